import test from 'ava';
import fc from 'fast-check';
import { DurationError, parseDuration } from '../../shared/duration.ts';

const spans: [text: string, seconds: number | null][] = [
  ['5 mins 7 sec', 307],
  ['3 hrs 10 min', 11_400],
  ['3h10min', 11_400],
  ['4 mos 2 days', 10_540_800],
  ['2 yrs 1 mo and 3d', 65_966_400],
  ['2 weeks and 1 day', 1_296_000],
  ['1 wk', 604_800],
  ['9d', 777_600],
  ['17', 17],
  ['17 seconds', 17],
  ['2.5 hours', 9000],
  ['.5 min', 30],
  ['2h15', 7215],
  ['20 min 4', 1204],
  ['75m', 4500],
  ['2 months', 5_184_000],
  ['2y', 63_115_200],
  ['three days', 259_200],
  ['twenty-one minutes', 1260],
  ['two hundred seconds', 200],
  ['a week', 604_800],
  ['day', 86_400],
  ['2:15', 135],
  ['2:15:30', 8130],
  ['1:0:0:0', 86_400],
  ['2d 2d', 345_600],
  ['3 days, 2 hours', 266_400],
  ['  1 Hour ', 3600],
  ['0', null],
  ['', null],
  ['   ', null],
  ['0 days', null],
];

for (const [text, seconds] of spans) {
  test(`${JSON.stringify(text)} is ${seconds} seconds`, (t) => t.is(parseDuration(text), seconds));
}

const refused = [
  'never',
  '3 moons',
  '-2 days',
  '1-2 days',
  '1e3',
  'soon',
  '1:2:3:4:5:6:7',
  '5 days!',
  '99999999 years',
];

for (const text of [...refused, '1 '.repeat(200)]) {
  test(`${JSON.stringify(text.slice(0, 20))} is no duration`, (t) => {
    t.throws(() => parseDuration(text), { instanceOf: DurationError });
  });
}

test('the word that was not understood is named', (t) => {
  t.throws(() => parseDuration('3 moons'), { message: 'word "moons" not understood' });
});

test('any text is either a positive number, nothing, or a DurationError', (t) => {
  const words = fc.constantFrom('1', '2.5', 'h', 'min', 'day', 'and', ':', ',', ' ', 'two', 'x', '-');
  const texts = fc.oneof(
    fc.string(),
    fc.array(words).map((parts) => parts.join(' ')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      try {
        const seconds = parseDuration(text);
        return seconds === null || (seconds > 0 && Number.isFinite(seconds));
      } catch (error) {
        return error instanceof DurationError;
      }
    }),
  );
  t.pass();
});

test('the sum of whole units is read back', (t) => {
  const part = fc.nat({ max: 99 });
  fc.assert(
    fc.property(part, part, part, part, (days, hours, minutes, seconds) => {
      const total = days * 86_400 + hours * 3600 + minutes * 60 + seconds;
      const text = `${days}d ${hours} hrs ${minutes}min and ${seconds} seconds`;
      return (parseDuration(text) ?? 0) === total;
    }),
  );
  t.pass();
});
