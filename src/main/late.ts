/**
 * What is not needed for the first frame: everything that speaks SSH, the journal, the demo pair. The build keeps it apart,
 * packed inside the one bundle, so that starting does not wait for half of the program to be parsed.
 */
export { startDemo } from '../demo/index.ts';
export { serveDemo } from '../demo/serve.ts';
export { connectAhead, openHosts } from '../hosts/index.ts';
export { openRecords } from './records.ts';
