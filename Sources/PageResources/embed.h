// One element of a list of resources: the file whose path is the macro RESOURCE. It is included once for each file.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"
{RESOURCE, (const char[]){
#embed RESOURCE suffix(, 0)
}},
#pragma clang diagnostic pop
#undef RESOURCE
