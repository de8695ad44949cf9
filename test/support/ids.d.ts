// In tests any text is an id, but an id of one kind is still not an id of another.

interface IdRules {
  readonly plainText: true;
}
