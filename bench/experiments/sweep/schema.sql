-- The results of sweeps: cells, the machines and binaries that measured them, and two views for reports.
-- Opening a file creates missing tables and views. Times are UTC in ISO 8601, JSON is text with sorted keys.

create table if not exists binaries (key text primary key, info text not null);
create table if not exists machines (key text primary key, info text not null);
create table if not exists datasets (checksum text primary key, info text not null);  -- info: the set's dataset.json

-- A cell: one setting on one data set, by one binary on one machine.
create table if not exists cells (
  key        text primary key,   -- SHA-256 over binary, machine, data checksum and settings
  kind       text not null,      -- dedup, backup, restore, kernels, device-kernels, tune
  dataset    text not null,      -- its name in the sweep
  checksum   text not null references datasets (checksum),
  algorithm  text not null,      -- or profile
  size       text not null,      -- as asked for, or 'own'
  parameters text not null default '{}',
  hash       text,               -- null for kinds without this setting, like the next five columns
  backend    text,
  threads    integer,            -- 0: one for each processor
  join_name  text,
  segment    text,
  rounds     integer,
  settings   text not null,      -- JSON: all of it
  binary     text not null references binaries (key),
  machine    text not null references machines (key),
  started    text not null,
  seconds    real not null,
  outcome    text not null check (outcome in ('done', 'failed', 'unavailable')),
  problem    text not null default '',
  result     text                -- JSON; null unless done
);

-- The sweeps and groups that a cell belongs to.
create table if not exists members (
  sweep text not null,
  grp   text not null,
  key   text not null,
  primary key (sweep, grp, key)
);
create index if not exists members_by_key on members (key);

-- Whole-engine runs that are done: a row for each group.
drop view if exists rows;
create view rows as
select
  cells.key, cells.kind, members.grp, members.sweep, cells.dataset, json_extract(datasets.info, '$.stands_for') as stands_for,
  cells.algorithm, cells.size, cells.parameters, cells.hash, cells.backend, cells.threads, cells.join_name, cells.segment,
  json_extract(cells.result, '$.report.result.bytes') as bytes,
  json_extract(cells.result, '$.report.result.chunk_count') as chunk_count,
  json_extract(cells.result, '$.report.result.chunks.mean_bytes') as mean_bytes,
  json_extract(cells.result, '$.report.result.unique_bytes') as unique_bytes,
  json_extract(cells.result, '$.report.result.savings_share') as savings,
  json_extract(cells.result, '$.report.result.elimination_ratio') as elimination_ratio,
  json_extract(cells.result, '$.bytes_per_second') as bytes_per_second,
  json_extract(cells.result, '$.report.bottleneck') as bottleneck,
  json_extract(cells.result, '$.report.backends.chunking') as backend_chunking,
  json_extract(cells.result, '$.report.comparison.dirty_chunk_count') as dirty_chunks,
  json_extract(cells.result, '$.report.comparison.missed_duplicate_share') as missed_share,
  cells.result
from cells
join members on members.key = cells.key
left join datasets on datasets.checksum = cells.checksum
where cells.kind in ('dedup', 'backup') and cells.outcome = 'done';

-- Stores: a row for each group.
drop view if exists store_rows;
create view store_rows as
select
  cells.key, members.grp, members.sweep, cells.kind, cells.dataset, cells.algorithm, cells.size, cells.parameters, cells.hash, cells.backend,
  cells.threads, coalesce(json_extract(cells.settings, '$.input'), 'cache') as input,
  coalesce(json_extract(cells.settings, '$.compression'), 'zstd') as compression,
  json_extract(cells.result, '$.bytes') as bytes,
  json_extract(cells.result, '$.stored_bytes') as stored_bytes,
  json_extract(cells.result, '$.bytes_per_second') as bytes_per_second,
  json_extract(cells.result, '$.report.bottleneck') as bottleneck
from cells
join members on members.key = cells.key
where cells.kind in ('backup', 'restore') and cells.outcome = 'done';

-- Cutting alone: a row for each back end of each place (memory, l2; device: a GPU's memory).
drop view if exists speeds;
create view speeds as
select
  cells.key, members.grp, members.sweep, cells.dataset, cells.algorithm, cells.size, cells.parameters,
  json_extract(row.value, '$.cuts') as cuts,
  json_extract(row.value, '$.mean_bytes') as mean_bytes,
  json_extract(row.value, '$.place') as place,
  back_end.key as backend,
  json_extract(back_end.value, '$.outcome') as outcome,
  json_extract(back_end.value, '$.bytes_per_second') as bytes_per_second,
  json_extract(back_end.value, '$.lowest_bytes_per_second') as lowest_bytes_per_second,
  json_extract(back_end.value, '$.highest_bytes_per_second') as highest_bytes_per_second,
  json_extract(back_end.value, '$.of_read') as of_read,
  json_extract(row.value, '$.read_bytes_per_second') as read_bytes_per_second
from cells
join members on members.key = cells.key
join json_each(cells.result, '$.rows') as row
join json_each(row.value, '$.back_ends') as back_end
where cells.kind in ('kernels', 'device-kernels') and cells.outcome = 'done' and json_extract(row.value, '$.kind') = 'cuts';
