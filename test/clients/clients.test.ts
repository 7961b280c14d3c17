// One file, so that all clients share the servers.
import './callbacks.ts';
import './forms.ts';
import './json-bodies.ts';
import './whole-lists.ts';
