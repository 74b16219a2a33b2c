/// An entry of a push certificate's list of topics (reference 2.2).
public struct CertificateTopic: Hashable, Sendable {
    /// The topic that the certificate may push to.
    public let topic: Topic
    /// The uses of the topic, such as `app`, `voip` or `complication`.
    public let kinds: [String]

    /// Creates an entry.
    public init(topic: Topic, kinds: [String]) {
        (self.topic, self.kinds) = (topic, kinds)
    }
}
