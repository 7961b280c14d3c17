// One file, so that all clients share the servers.
import './callbacks.ts';
import './callbacks-repository.ts';
import './forms.ts';
import './forms-repository.ts';
import './issues.ts';
import './json-bodies.ts';
import './merge-requests.ts';
import './notes.ts';
import './planning.ts';
import './whole-lists.ts';
