import PushTypes
import PushWire

/// A topic that a credential may push to.
struct TopicGrant: Hashable, Sendable {
    var topic: Topic
    var hash: TopicHash
    /// The push type whose suffix the topic has after its app's bundle id; `nil` for none.
    var suffixType: PushType?

    /// - Parameter isApp: Whether an app of exactly this name is registered, whatever its suffix.
    init(_ topic: Topic, isApp: Bool) {
        self.topic = topic
        self.hash = TopicHash(topic)
        self.suffixType =
            isApp
            ? nil
            : PushType.allCases.first { !$0.topicSuffix.isEmpty && topic.name.hasSuffix($0.topicSuffix) }
    }
}

/// The topics that a credential may push to, so that the next push to one of them costs a comparison.
struct TopicGrantCache: Sendable {
    /// The most topics. All are removed when there are more.
    static let capacity = 256

    private var last: (text: String, grant: TopicGrant)?
    private var all: [String: TopicGrant] = [:]

    mutating func find(_ text: String) -> TopicGrant? {
        if let last = self.last, last.text == text { return last.grant }
        guard let grant = self.all[text] else { return nil }
        self.last = (text, grant)
        return grant
    }

    mutating func add(_ grant: TopicGrant) {
        if self.all.count >= Self.capacity { self.all = [:] }
        self.all[grant.topic.name] = grant
        self.last = (grant.topic.name, grant)
    }
}
