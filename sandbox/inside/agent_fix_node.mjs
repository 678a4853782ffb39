// A reporter for `node --test`: one JSON object a line, with the file of each test, which the built-in ones leave out
// of those that pass: {"file": ..., "name": [outermost, ..., own], "outcome": ..., "message": ...}.

import { relative, resolve } from 'node:path';

function outcome(type, data) {
  if (data.skip !== undefined || data.todo !== undefined) return 'skipped';
  return type === 'test:pass' ? 'passed' : 'failed';
}

export default async function* report(source) {
  const names = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      names.length = data.nesting;
      names.push(data.name);
    } else if (type === 'test:pass' || type === 'test:fail') {
      const error = data.details?.error;
      const only = error?.failureType === 'subtestsFailed' || type === 'test:pass';
      if (data.details?.type === 'suite' && only) continue;
      const file = data.file ? relative(process.cwd(), data.file) : '';
      const name = [...names.slice(0, data.nesting), data.name];
      const whole = data.nesting === 0 && data.file && resolve(data.name) === data.file;
      if (whole && type === 'test:pass') continue;
      const message = String(error?.cause?.stack ?? error?.message ?? '');
      const said = whole ? 'error' : outcome(type, data);
      yield `${JSON.stringify({ file, name: whole ? [] : name, outcome: said, message })}\n`;
    }
  }
}
