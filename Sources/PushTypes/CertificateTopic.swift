/// An entry of a push certificate's list of topics.
public struct CertificateTopic: Hashable, Sendable {
    public let topic: Topic
    /// The uses of the topic, such as `app`, `voip` or `complication`.
    public let kinds: [String]

    public init(topic: Topic, kinds: [String]) {
        self.topic = topic
        self.kinds = kinds
    }
}
