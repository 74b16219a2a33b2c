/// The address of an app within the push service: its bundle id, with a suffix for some push types.
public struct Topic: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a topic, in bytes. A bundle id has at most 155 bytes, a suffix at most 24.
    public static let maximumLength = 255

    /// The value of the header `apns-topic`.
    public let name: String

    /// Creates a topic. Returns `nil` unless `name` is 1 to 255 ASCII letters, digits, dots, hyphens and underscores.
    public init?(_ name: some StringProtocol) {
        let utf8 = name.utf8
        guard !utf8.isEmpty, utf8.count <= Self.maximumLength else { return nil }
        let allowed = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard allowed else { return nil }
        self.name = String(name)
    }

    /// The app's bundle id: this topic without the suffix of a push type.
    public var bundleID: Topic {
        for type in PushType.allCases where !type.topicSuffix.isEmpty && self.name.hasSuffix(type.topicSuffix) {
            return Topic(self.name.dropLast(type.topicSuffix.count)) ?? self
        }
        return self
    }

    /// Returns the app to which pushes of this topic belong, or `nil` if there is none. An app whose bundle id is the
    /// whole topic takes precedence over an app whose bundle id is the topic without a suffix.
    /// - Parameter app: A closure that returns the app with a bundle id, or `nil` if there is none.
    package func owner<App>(lookingUp app: (_ bundleID: Topic) throws -> App?) rethrows -> App? {
        if let owner = try app(self) { return owner }
        return self.bundleID == self ? nil : try app(self.bundleID)
    }

    /// The bundle id, and the topics that are formed from it with the suffixes of push types (APNs reference 1.6).
    package var derivedTopics: [Topic] {
        var suffixes = Set<String>()
        return PushType.allCases.compactMap { type in
            suffixes.insert(type.topicSuffix).inserted ? Topic(self.name + type.topicSuffix) : nil
        }
    }

    /// The same text as ``name``.
    public var description: String { self.name }
}

/// An entry of a push certificate's list of topics (APNs reference 2.2).
public struct CertificateTopic: Hashable, Sendable {
    /// The topic to which the certificate may push.
    public let topic: Topic
    /// The uses of the topic, such as `app`, `voip` or `complication`.
    public let kinds: [String]

    /// Creates an entry for `topic` with its uses.
    public init(topic: Topic, kinds: [String]) { (self.topic, self.kinds) = (topic, kinds) }
}
