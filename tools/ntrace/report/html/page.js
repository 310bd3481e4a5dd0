// SPDX-License-Identifier: GPL-2.0-only
// The page of ntrace report --html. All texts come from the data and are set as text, never as HTML.
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en');
const share = (part, whole) => (whole ? (100 * part / whole).toFixed(2) : '0.00') + ' %';

function make(parent, name, text, attributes) {
	const element = document.createElement(name);
	if (text !== undefined && text !== null)
		element.textContent = text;
	for (const [key, value] of Object.entries(attributes || {}))
		element.setAttribute(key, value);
	if (parent)
		parent.append(element);
	return element;
}

// A time in ticks of the trace's clock; ~ marks a time interpolated between timestamps.
function time(ticks) {
	const { hz } = data.timeline;
	if (!hz)
		return `${number.format(Math.round(ticks))} ticks`;
	let value = ticks / hz, unit = 0;
	for (; ticks && Math.abs(value) < 1 && unit < 3; unit++)
		value *= 1000;
	return `${value.toFixed(3)} ${['s', 'ms', '\u00b5s', 'ns'][unit]}`;
}
const command = (...words) => ['ntrace', ...words, data.recording]
	.map((word) => (/^[\w.,:/=+@%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
// The command that opens GDB there; it goes to places of recordings only.
const debug = (...words) => data.raw ? '' : '. In GDB: ' + command('gdb', '--run', ...words);
const about_time = (ticks) => '~' + time(ticks);

// A colour for a name, the same in each report.
function colour(text, from = 20, range = 45) {
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	hash = hash >>> 0;
	return `hsl(${from + hash % range} ${65 + (hash >> 8) % 25}% ${62 + (hash >> 16) % 14}%)`;
}

// ---- tables ----

const ROWS = 400;

// columns: [title, value(row), number?, text(row), open(row)]; a row is shown if one of its texts contains the search text.
// With open() a cell is a button. Columns of WIDE are left out on narrow screens.
const WIDE = ['calls', 'with callees', 'time', 'time with callees', 'mode', 'object', 'kind', 'line'];
function table(parent, rows, columns, first) {
	const place = make(parent, 'table'), head = make(make(place, 'thead'), 'tr'), body = make(place, 'tbody');
	const rest = make(parent, 'p', '', { class: 'dim' });
	const texts = rows.map((row) => columns.filter((c) => !c[2]).map((c) => c[1](row)).join('\n').toLowerCase());
	const kind = (title, isNumber) => [...(isNumber ? ['number'] : []), ...(WIDE.includes(title) ? ['wide'] : [])].join(' ');
	let order = first, down = true, wanted = '', limit = ROWS;
	columns.forEach(([title, , isNumber], i) => {
		const cell = make(head, 'th', null, { scope: 'col', class: kind(title, isNumber) });
		make(cell, 'button', title).addEventListener('click', () => {
			down = order === i ? !down : !!isNumber;
			order = i;
			show();
		});
	});
	function show() {
		const value = columns[order][1];
		const shown = rows.map((row, i) => i).filter((i) => texts[i].includes(wanted)).sort((a, b) => {
			const left = value(rows[a]), right = value(rows[b]);
			return (left < right ? -1 : left > right ? 1 : 0) * (down ? -1 : 1) || a - b;
		});
		[...head.children].forEach((cell, i) => {
			if (i === order)
				cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
			else
				cell.removeAttribute('aria-sort');
		});
		body.replaceChildren(...shown.slice(0, limit).map((i) => {
			const line = make(null, 'tr');
			for (const [title, get, isNumber, text, open] of columns) {
				const cell = make(line, 'td', null, { class: kind(title, isNumber) });
				const words = text ? text(rows[i]) : isNumber ? number.format(get(rows[i])) : get(rows[i]);
				if (open)
					make(cell, 'button', words).addEventListener('click', () => open(rows[i]));
				else
					cell.textContent = words;
			}
			return line;
		}));
		rest.replaceChildren();
		if (shown.length > limit)
			make(rest, 'button', `${number.format(shown.length - limit)} more rows`).addEventListener('click', () => {
				limit *= 4;
				show();
			});
		return shown.length;
	}
	show();
	return (text) => {
		wanted = text;
		limit = ROWS;
		return `${number.format(show())} of ${number.format(rows.length)} rows`;
	};
}

// ---- functions, branches ----

// Callers or callees of a function, by the frames of the flame graph: [name, calls, instructions with callees].
function related(name, callees) {
	const { names, nodes } = data.stacks, found = new Map();
	const is = (i) => names[nodes[i][0]] === name;
	for (let i = 1; i < nodes.length; i++) {
		const parent = nodes[i][1];
		if (!is(callees ? parent : i))
			continue;
		const other = names[nodes[callees ? i : parent][0]], row = found.get(other) || [other, 0, 0];
		row[1] += nodes[i][4];
		// Of a recursion the outermost frame contains the others.
		let above = parent;
		while (above && !is(above))
			above = nodes[above][1];
		row[2] += !callees && above ? 0 : nodes[i][2];
		found.set(other, row);
	}
	return [...found.values()];
}

// What leads on from a function. open: shows another one.
function about_function(place, name, open) {
	const known = !name.startsWith('[');
	place.replaceChildren();
	make(place, 'h2', name);
	const tools = make(place, 'div', null, { class: 'tools' });
	if (data.stacks) {
		make(tools, 'button', 'in the flame graph').addEventListener('click', () => show({ view: 'flame-graph', search: name }));
		for (const callees of [false, true]) {
			const rows = related(name, callees);
			if (rows.length)
				table(place, rows, [
					['instructions', (row) => row[2], true],
					['calls', (row) => row[1], true],
					[callees ? 'callee' : 'caller', (row) => row[0], false, null, (row) => open(row[0])],
				], 0);
		}
		if (data.stacks.dropped)
			make(place, 'p', 'Frames that are too small for the flame graph are not in these tables.', { class: 'dim' });
	}
	make(tools, 'button', 'its branches').addEventListener('click', () => show({ view: 'branches', search: name }));
	if (known && !data.raw) {
		make(place, 'p', 'Source and instructions with counts: ').append(make(null, 'code', command('report', '--annotate', name)));
		make(place, 'p', 'In GDB: ').append(make(null, 'code', command('gdb', '--run', '--around', name)));
	}
}

function functions(view) {
	if (data.dropped.functions)
		make(view, 'p', `${number.format(data.dropped.functions)} functions with fewer instructions are not in this page`, { class: 'dim' });
	const about = make(null, 'div', null, { id: 'function' });
	const open = (name) => show({ view: 'functions', search: $('search').value, function: name });
	const find = table(view, data.functions, [
		['share', (f) => f[3], true, (f) => share(f[3], data.instructions.selected)],
		['instructions', (f) => f[3], true],
		['calls', (f) => f[4], true],
		['with callees', (f) => f[5], true],
		...(data.timeline.timed ? [
			['time', (f) => f[6], true, (f) => about_time(f[6])],
			['time with callees', (f) => f[7], true, (f) => about_time(f[7])],
		] : []),
		['mode', (f) => f[2]],
		['object', (f) => f[1]],
		['function', (f) => f[0], false, null, (f) => open(f[0])],
	], 1);
	view.prepend(about);
	view.addEventListener('shown', () => {
		if (!state.function)
			about.replaceChildren();
		else
			about_function(about, state.function, open);
	});
	return find;
}

function branches(view) {
	if (data.dropped.branches)
		make(view, 'p', `${number.format(data.dropped.branches)} transfers that were taken less often are not in this page`, { class: 'dim' });
	return table(view, data.branches, [
		['taken', (b) => b[4], true],
		['of executed', (b) => b[4] / b[5], true, (b) => share(b[4], b[5])],
		['kind', (b) => b[3]],
		['from', (b) => b[0]],
		['line', (b) => b[2]],
		['to', (b) => b[1]],
	], 0);
}

// ---- flame graph ----

function flame(view) {
	const { names, nodes } = data.stacks, count = nodes.length, children = nodes.map(() => []);
	const height = 20, left = new Float64Array(count), depth = new Uint32Array(count);
	const tools = make(view, 'div', null, { class: 'tools' }), about = make(view, 'div', '', { class: 'about', 'aria-live': 'polite' });
	const graph = make(view, 'div', null, { class: 'flame', id: 'graph' });
	const name = (i) => names[nodes[i][0]], total = (i) => nodes[i][2];
	let root = 0, wanted = '', focused = 0, elements = new Map();
	for (let i = 1; i < count; i++) {
		children[nodes[i][1]].push(i);
		depth[i] = depth[nodes[i][1]] + 1;
	}
	for (let i = 0; i < count; i++) {
		children[i].sort((a, b) => total(b) - total(a) || a - b);
		let x = left[i];
		for (const child of children[i]) {
			left[child] = x;
			x += total(child);
		}
	}
	const whole = total(0);
	const describe = (i) => `${name(i)}: ${number.format(total(i))} instructions (${share(total(i), whole)}), ` +
		`${number.format(nodes[i][3])} of its own, ${number.format(nodes[i][4])} calls` +
		(data.timeline.timed ? `, ${about_time(nodes[i][5])}` : '');
	function zoom(i) {
		root = i;
		focused = i;
		show();
		if (elements.has(i))
			elements.get(i).focus({ preventScroll: true });
	}
	function frame(i, x, width, isParent) {
		const element = make(graph, 'button', width > 24 ? name(i) : '', {
			tabindex: i === focused ? 0 : -1, 'aria-label': describe(i), title: describe(i), 'data-node': i,
			class: wanted && name(i).toLowerCase().includes(wanted) ? 'found' : '',
		});
		element.style.cssText = `left:${x}px;width:${Math.max(width - 1, 1)}px;top:${depth[i] * height}px;` +
			`background:${colour(name(i))};${isParent ? 'opacity:.6' : ''}`;
		elements.set(i, element);
	}
	function show() {
		const width = graph.clientWidth || 1000, scale = width / (total(root) || 1);
		let deepest = depth[root];
		graph.replaceChildren();
		elements = new Map();
		for (let i = nodes[root][1]; root && i >= 0; i = i ? nodes[i][1] : -1)
			frame(i, 0, width, true);
		for (let todo = [root]; todo.length;) {
			const i = todo.pop();
			frame(i, (left[i] - left[root]) * scale, total(i) * scale, false);
			deepest = Math.max(deepest, depth[i]);
			// Children are sorted by size: all after the first one that is too small
			// are too small.
			for (const child of children[i]) {
				if (total(child) * scale < 1)
					break;
				todo.push(child);
			}
		}
		graph.style.height = `${(deepest + 1) * height}px`;
		graph.setAttribute('data-root', name(root));
		about.textContent = describe(root);
		if (root && !name(root).startsWith('['))
			about.textContent += debug('--around', name(root));
	}
	make(tools, 'button', 'whole').addEventListener('click', () => zoom(0));
	make(tools, 'span', 'click or Enter zooms in, Escape out, arrows move', { class: 'dim' });
	if (data.stacks.dropped)
		make(tools, 'span', `${number.format(data.stacks.dropped)} frames too small to be seen are not in this page`, { class: 'dim' });
	if (names.includes('[unknown]'))
		make(view, 'p', '[unknown] are callers that were not seen: they were called before tracing began, or before a loss.', { class: 'dim' });
	if (names.some((text) => /^sub_[0-9a-f]+$/.test(text)))
		make(view, 'p', 'sub_ADDRESS are functions of programs that have no symbols, as stripped libraries; their debug packages have the names.',
			{ class: 'dim' });
	graph.addEventListener('click', (event) => {
		if (event.target.dataset.node)
			zoom(+event.target.dataset.node);
	});
	graph.addEventListener('focusin', (event) => {
		if (!event.target.dataset.node)
			return;
		focused = +event.target.dataset.node;
		about.textContent = describe(focused);
	});
	graph.addEventListener('mouseover', (event) => {
		if (event.target.dataset.node)
			about.textContent = describe(+event.target.dataset.node);
	});
	graph.addEventListener('keydown', (event) => {
		const parent = nodes[focused][1], siblings = focused ? children[parent] : [0], at = siblings.indexOf(focused);
		const to = {
			ArrowUp: focused ? parent : undefined, ArrowDown: children[focused][0],
			ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1],
		}[event.key];
		if (event.key === 'Escape')
			zoom(root ? nodes[root][1] : 0);
		else if (to === undefined || !elements.has(to))
			return;
		else
			elements.get(to).focus();
		event.preventDefault();
	});
	addEventListener('resize', () => view.hidden || show());
	view.addEventListener('shown', show);
	return (text) => {
		wanted = text;
		show();
		if (!text)
			return '';
		// The outermost ones only: their totals include those below them.
		let sum = 0, frames = 0;
		const inside = new Uint8Array(count);
		for (let i = 0; i < count; i++) {
			const hit = name(i).toLowerCase().includes(text);
			frames += hit;
			inside[i] = hit || (i && inside[nodes[i][1]]);
			if (hit && !(i && inside[nodes[i][1]]))
				sum += total(i);
		}
		return `${number.format(frames)} frames, ${share(sum, whole)}`;
	};
}

// ---- timeline ----

function timeline(view) {
	// A cell has four numbers for each thread: its index, instructions, kernel instructions,
	// ticks.
	const { lanes, tasks, timed, untimed, stamps } = data.timeline, parts = 4;
	const all = Math.max(1, ...lanes.map((lane) => (timed ? lane.begin + lane.cells.length * lane.width : lane.instructions)));
	const amount = (cell, i) => cell[timed ? i + 3 : i + 1];
	const tools = make(view, 'div', null, { class: 'tools' }), about = make(view, 'div', '', { class: 'about', 'aria-live': 'polite' });
	const box = make(view, 'div', null, { id: 'lanes', tabindex: 0, 'aria-label': 'timeline' });
	const axis = make(box, 'div', null, { class: 'axis', 'aria-hidden': 'true' });
	const colours = tasks.map((task) => colour(task.name + task.tid, 0, 360));
	let from = 0, to = all, wanted = '';
	const canvases = lanes.map((lane) => {
		make(box, 'div', `CPU ${lane.cpu}: ${number.format(lane.instructions)} instructions` +
			(timed ? `, executed in ${about_time(lane.ticks)}` : ''));
		return make(box, 'canvas');
	});
	const place = (at) => (timed ? time(at) : number.format(Math.round(at)));
	const seconds = () => [from, to].map((at) => (data.timeline.hz ? (at / data.timeline.hz).toFixed(9) : `@${Math.round(at)}`)).join(',');
	function draw(canvas, lane) {
		const width = canvas.width = canvas.clientWidth || 1000, tall = canvas.height = canvas.clientHeight || 46;
		const context = canvas.getContext('2d'), scale = width / (to - from);
		lane.cells.forEach((cell, index) => {
			// Whole pixels: otherwise the background shows between cells.
			const x = Math.floor((lane.begin + index * lane.width - from) * scale);
			const wide = Math.max(Math.ceil((lane.begin + (index + 1) * lane.width - from) * scale) - x, 1);
			if (x > width || x + wide < 0)
				return;
			let y = 0, kernel = 0, sum = 0;
			for (let i = 0; i < cell.length; i += parts)
				sum += cell[i + 1];
			for (let i = 0; i < cell.length; i += parts) {
				const part = amount(cell, i) / lane.width * (tall - 8);
				context.globalAlpha = wanted && !tasks[cell[i]].name.toLowerCase().includes(wanted) ? 0.12 : 1;
				context.fillStyle = colours[cell[i]];
				context.fillRect(x, y, wide, part);
				y += part;
				kernel += cell[i + 2];
			}
			context.globalAlpha = sum ? kernel / sum : 0;
			context.fillStyle = '#888';
			context.fillRect(x, tall - 7, wide, 7);
		});
	}
	function show() {
		canvases.forEach((canvas, i) => draw(canvas, lanes[i]));
		box.setAttribute('data-from', from);
		box.setAttribute('data-to', to);
		axis.replaceChildren(...[0, 1, 2, 3, 4].map((i) => make(null, 'span', place(from + (to - from) * i / 4))));
		about.textContent = timed ? `${place(from)} to ${place(to)} after the first timestamp${debug('--time', seconds())}` :
			`instructions ${place(from)} to ${place(to)} of each CPU`;
	}
	function zoom(factor, at) {
		const size = Math.min(all, Math.max(16, (to - from) * factor));
		from = Math.min(Math.max(0, at - (at - from) * size / (to - from)), all - size);
		to = from + size;
		show();
	}
	function move(part) {
		const by = Math.min(Math.max(-from, part * (to - from)), all - to);
		from += by;
		to += by;
		show();
	}
	const keys = {
		'+': () => zoom(0.5, (from + to) / 2), '=': () => zoom(0.5, (from + to) / 2), '-': () => zoom(2, (from + to) / 2),
		ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), '0': () => zoom(1e9, 0), Escape: () => zoom(1e9, 0),
	};
	make(tools, 'button', '+', { 'aria-label': 'zoom in' }).addEventListener('click', keys['+']);
	make(tools, 'button', '\u2212', { 'aria-label': 'zoom out' }).addEventListener('click', keys['-']);
	make(tools, 'button', 'whole').addEventListener('click', keys['0']);
	make(tools, 'span', (timed ? 'the axis is time; ~ is interpolated: between two timestamps it passes with instructions' :
		'the axis is instructions that the CPU executed, not time: the trace has no timestamps, or not of one clock') +
		'; grey below: in the kernel; +, \u2212, 0 and arrows', { class: 'dim' });
	if (timed)
		make(view, 'p', `${number.format(stamps)} timestamps` + (data.timeline.about ? `; times are ${data.timeline.about}` : '') +
			(untimed ? `; ${number.format(untimed)} instructions before the first or after the last one of their CPU have no time and are not in the picture` : ''), { class: 'dim', id: 'stamps' });
	box.addEventListener('keydown', (event) => {
		if (!keys[event.key])
			return;
		keys[event.key]();
		event.preventDefault();
	});
	box.addEventListener('wheel', (event) => {
		if (!event.ctrlKey && !event.shiftKey)
			return;
		const area = box.getBoundingClientRect();
		zoom(event.deltaY > 0 ? 1.25 : 0.8, from + (to - from) * (event.clientX - area.left) / area.width);
		event.preventDefault();
	}, { passive: false });
	box.addEventListener('mousemove', (event) => {
		const at = canvases.indexOf(event.target), area = event.target.getBoundingClientRect();
		if (at < 0)
			return;
		const lane = lanes[at];
		const index = Math.floor((from + (to - from) * (event.clientX - area.left) / area.width - lane.begin) / lane.width);
		const cell = lane.cells[index];
		if (!cell)
			return;
		let text = `CPU ${lane.cpu}, from ${timed ? '' : 'instruction '}${place(lane.begin + index * lane.width)}`;
		for (let i = 0; i < cell.length; i += parts)
			text += `; ${tasks[cell[i]].name} (${tasks[cell[i]].tid}): ${number.format(cell[i + 1])}` +
				(timed ? ` in ${about_time(cell[i + 3])}` : '');
		about.textContent = text;
	});
	const legend = make(view, 'ul', null, { class: 'legend' });
	const most = timed ? 'ticks' : 'instructions';
	tasks.map((task, i) => i).filter((i) => tasks[i].instructions).sort((a, b) => tasks[b][most] - tasks[a][most]).slice(0, 60).forEach((i) => {
		const item = make(legend, 'li');
		make(item, 'i').style.background = colours[i];
		item.append(`${tasks[i].name} ${tasks[i].tid < 0 ? '' : tasks[i].tid} ` +
			share(tasks[i].instructions, data.instructions.all) + (timed ? `, ${about_time(tasks[i].ticks)}` : ''));
	});
	addEventListener('resize', () => view.hidden || show());
	view.addEventListener('shown', show);
	return (text) => {
		wanted = text;
		show();
		return text ? `${tasks.filter((task) => task.name.toLowerCase().includes(text)).length} of ${tasks.length} threads` : '';
	};
}

// ---- source ----

function source(view) {
	if (!data.files.length) {
		make(view, 'p', 'Nothing that was executed has line numbers and lines: see "lost" for what is missing.');
		return () => '';
	}
	const list = make(view, 'div', null, { class: 'files' }), code = make(view, 'div', null, { id: 'code' });
	const hot = (file) => file.lines.reduce((most, line) => Math.max(most, line[1]), 0);
	const found = table(list, data.files, [
		['hottest line', hot, true],
		['covered', (file) => file.executed / file.count, true, (file) => `${file.executed} of ${file.count} lines`],
		['file', (file) => file.name, false, null, open],
	], 0);
	function open(file) {
		const counts = new Map(file.lines.map((line) => [line[0], line])), most = Math.log(1 + hot(file));
		code.replaceChildren();
		make(code, 'h2', file.name);
		if (!file.text)
			make(code, 'p', 'The source is not in this page: it was not found, or the page would have become too large.', { class: 'dim' });
		if (file.note)
			make(code, 'p', file.note, { class: 'dim' });
		const body = make(code, 'div', null, { class: 'code', tabindex: 0, role: 'region', 'aria-label': file.name });
		const texts = file.text ? file.text.split('\n') : null;
		if (texts && texts[texts.length - 1] === '')
			texts.pop();
		const put = (line, text) => {
			const entry = counts.get(line), row = make(body, 'div', null, { 'data-line': line });
			make(row, 'span', line);
			make(row, 'span', entry ? number.format(entry[1]) : '');
			row.append(text);
			if (entry && !entry[1])
				row.className = 'never';
			else if (entry)
				row.style.background = `rgba(var(--hot), ${(0.45 * Math.log(1 + entry[1]) / most).toFixed(3)})`;
			for (let i = 2; entry && i < entry.length; i += 2)
				make(row, 'em', `taken ${number.format(entry[i])} of ${number.format(entry[i + 1])}`);
		};
		if (texts)
			texts.forEach((text, i) => put(i + 1, text));
		else
			file.lines.forEach((line) => put(line[0], ''));
	}
	open(data.files.reduce((a, b) => (hot(b) > hot(a) ? b : a)));
	return found;
}

// ---- losses ----

function isWhole({ recording, gaps, errors }) {
	return !recording && !gaps && !errors.length;
}

function lost(view) {
	const { recording, gaps, errors, warnings, notes } = data.losses;
	const put = (text, bad) => make(view, 'p', text, { class: bad ? 'bad' : '' });
	put(isWhole(data.losses) ? 'Nothing was lost: the trace is whole.' : 'What was executed in gaps is not in the counts.',
		!isWhole(data.losses));
	if (recording)
		put(recording, true);
	if (gaps)
		put(`gaps: ${number.format(gaps)}`, true);
	for (const [count, reason, where] of errors)
		put(`not decoded, ${number.format(count)} times: ${reason} (first: ${where})`, true);
	for (const [count, reason, where] of warnings)
		put(`uncertain, ${number.format(count)} times: ${reason} (first: ${where})`);
	for (const note of notes)
		put(note);
	return () => '';
}

// ---- the page ----

// What is shown: view, search, function. The address of the page has it, so that reload, history and links keep it.
let state = {}, apply;

function show(wanted) {
	const hash = '#' + new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
	if (hash !== location.hash)
		history.pushState(null, '', hash);
	apply();
}

function start() {
	const { instructions, losses } = data;
	document.title = `ntrace: ${data.command || data.recording}`;
	$('title').textContent = data.command || data.recording;
	$('summary').textContent = `${data.recording}: ${number.format(instructions.all)} instructions on ${data.timeline.lanes.length} CPUs, ` +
		`${share(instructions.user, instructions.all)} in user space, ${share(instructions.kernel, instructions.all)} in the kernel`;
	const whole = isWhole(losses);
	$('whole').textContent = whole ? 'the trace is whole' : 'the trace has losses: see "lost"';
	$('whole').className = whole ? '' : 'bad';
	const views = [['functions', functions], ['flame graph', flame], ['timeline', timeline], ['branches', branches], ['source', source],
		['lost', lost]].filter(([title]) => title !== 'flame graph' || data.stacks);
	const tabs = [];
	let current = 0;
	const search = $('search');
	const find = () => { $('found').textContent = tabs[current].find(search.value.trim().toLowerCase()); };
	const select = (index, focus) => {
		show({ view: tabs[index].id, search: search.value });
		if (focus)
			tabs[index].tab.focus();
	};
	apply = () => {
		state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
		const index = Math.max(0, tabs.findIndex(({ id }) => id === state.view));
		current = index;
		search.value = state.search || '';
		tabs.forEach(({ tab, view }, i) => {
			tab.setAttribute('aria-selected', i === index);
			tab.tabIndex = i === index ? 0 : -1;
			view.hidden = i !== index;
		});
		// A view is made when it is first shown.
		if (!tabs[index].find)
			tabs[index].find = tabs[index].make(tabs[index].view);
		tabs[index].view.dispatchEvent(new Event('shown'));
		find();
	};
	views.forEach(([title, build], i) => {
		const id = title.replace(' ', '-');
		const tab = make($('tabs'), 'button', title, { role: 'tab', id: `tab-${id}`, 'aria-controls': `view-${id}` });
		const view = make($('views'), 'section', null, { role: 'tabpanel', id: `view-${id}`, 'aria-labelledby': `tab-${id}` });
		tab.addEventListener('click', () => select(i, false));
		tabs.push({ id, tab, view, make: build });
	});
	$('tabs').addEventListener('keydown', (event) => {
		const to = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: tabs.length - 1 }[event.key];
		if (to === undefined)
			return;
		select((to + tabs.length) % tabs.length, true);
		event.preventDefault();
	});
	search.addEventListener('input', () => {
		history.replaceState(null, '', '#' + new URLSearchParams({ ...state, search: search.value }));
		find();
	});
	addEventListener('popstate', apply);
	addEventListener('keydown', (event) => {
		if (event.key === '/' && document.activeElement !== search) {
			search.focus();
			event.preventDefault();
		} else if (event.key === 'Escape' && document.activeElement === search) {
			search.value = '';
			search.dispatchEvent(new Event('input'));
		}
	});
	apply();
	document.body.dataset.ready = Math.round(performance.now());
}
start();
})();
