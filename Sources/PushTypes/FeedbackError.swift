/// The reason for which a list of the feedback service ends early.
public enum FeedbackError: Error, Hashable, Sendable {
    /// The bytes are not a list of tuples.
    case malformed(tokenLength: Int)
    /// The connection ended within a tuple, or without the closure alert of TLS: the list was not complete.
    case truncated
    /// The service sent nothing for too long.
    case timedOut
    /// The list has more tuples than the client reads.
    case tooManyTuples
}
