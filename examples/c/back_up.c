// Backs up files into a store, which it makes if there is none, lists what the snapshot has, and restores it.
#include <cutpoint/cutpoint_store.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int print_problem(void* context, const char* path, cutpoint_status code, const char* message) {
  (void)context, (void)path, (void)code;
  fprintf(stderr, "%s\n", message);
  return 0;  // the rest is still backed up
}

static int print_file(void* context, const cutpoint_stored_file* file) {
  fprintf(context, "%04o %12" PRIu64 " %s\n", (unsigned)file->permissions, file->size, file->path);
  return ferror(context);  // a value other than 0 ends the list
}

int main(int count, char** words) {
  if (count < 4) {
    fprintf(stderr, "usage: back_up STORE TARGET PATH...\n");
    return 2;
  }
  cutpoint_error error;
  cutpoint_engine* engine = NULL;
  cutpoint_store* store = NULL;
  const cutpoint_store_snapshot* snapshot = NULL;
  const cutpoint_store_backup_options options = {.struct_bytes = sizeof options,
                                                 .paths = (const char* const*)(words + 3),
                                                 .path_count = (uint64_t)(count - 3),
                                                 .problem = print_problem};
  const cutpoint_store_restore_options restoring = {
      .struct_bytes = sizeof restoring, .target = words[2], .problem = print_problem};

  cutpoint_status status = cutpoint_store_create(words[1], NULL, NULL, &error);
  if (status == CUTPOINT_IO_ERROR && error.system_error == EEXIST) status = CUTPOINT_OK;  // a store is there already
  if (status == CUTPOINT_OK) status = cutpoint_store_open(words[1], NULL, &store, &error);
  if (status == CUTPOINT_OK) status = cutpoint_engine_create(NULL, &engine, &error);
  if (status == CUTPOINT_OK) status = cutpoint_store_back_up(store, engine, &options, &snapshot, &error);
  if (status == CUTPOINT_OK) {
    printf("%s\n%" PRIu64 " bytes, %" PRIu64 " stored anew\n", snapshot->id, snapshot->bytes,
           snapshot->new_stored_bytes);
    status = cutpoint_store_list_files(store, snapshot->id, NULL, print_file, stdout, &error);
  }
  if (status == CUTPOINT_OK) status = cutpoint_store_restore(store, snapshot->id, &restoring, NULL, &error);
  if (status != CUTPOINT_OK) fprintf(stderr, "%s: %s\n", cutpoint_status_name(status), error.message);
  const int is_incomplete = snapshot != NULL && (snapshot->flags & CUTPOINT_SNAPSHOT_INCOMPLETE) != 0;
  cutpoint_store_destroy(store);
  cutpoint_engine_destroy(engine);
  return status != CUTPOINT_OK || is_incomplete;
}
