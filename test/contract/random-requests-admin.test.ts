import { withApp } from '../support/app.ts';
import { randomTests } from './random-tests.ts';

randomTests(withApp({ poolSize: 4 }), { isAdmin: true });
