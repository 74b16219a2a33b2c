import Foundation
import PushStore
import PushSupport
import PushTypes

/// The part of a notification that becomes request headers (reference 1.5, 1.6), read from an API request.
struct ContentHeaders {
    static let members: Set<String> = ["pushType", "topic", "priority", "expiration", "collapseId"]

    /// The content with an empty payload.
    let content: NotificationContent
    /// `true` if the push updates a pass: its payload is empty.
    let isWallet: Bool
    private(set) var warnings: [ContentWarning] = []

    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields, bundleID: Topic) throws(RequestError) {
        let pushType = try Self.pushType(fields)
        let topic = try Self.topic(fields, pushType: pushType, bundleID: bundleID)
        let isEmptyPayload = fields.members["payload"] == .object([:])
        self.isWallet = fields.members["wallet"] == .bool(true) || isEmptyPayload && topic.name.hasPrefix("pass.")
        self.content = NotificationContent(
            topic: topic,
            pushType: pushType,
            priority: try Self.priority(fields, pushType: pushType),
            expiration: try Self.expiration(fields),
            collapseID: try fields.string("collapseId", maximum: PushNotification.maximumCollapseIDLength),
            payload: Data()
        )
        self.addWarnings(bundleID: bundleID)
    }

    private static let known = PushType.allCases.map(\.rawValue).joined(separator: ", ")

    /// Returns the push type that is named, or the one to which other members belong.
    private static func pushType(_ fields: JSONFields) throws(RequestError) -> PushType {
        var type = try fields.value("pushType", maximum: 64, orElse: "invalid_push_type", "use one of \(Self.known)") {
            PushType(rawValue: $0)
        }
        let implied: [(member: String, types: [PushType])] = [
            ("contentChanged", [.widgets, .controls]), ("fileProvider", [.fileprovider]),
            ("liveActivity", [.liveactivity]), ("mdm", [.mdm]), ("pushToTalk", [.pushtotalk]), ("wallet", [.alert]),
        ]
        for (member, types) in implied {
            guard let value = fields.members[member], value != .bool(false) else { continue }
            guard types.contains(type ?? types[0]), type != nil || types.count == 1 else {
                let names = types.map(\.rawValue).joined(separator: " or ")
                throw fields.error(member, "conflicting_field", "it belongs to the push type \(names)")
            }
            type = types.count == 1 ? types[0] : type
        }
        return type ?? .alert
    }

    private static func topic(_ fields: JSONFields, pushType: PushType, bundleID: Topic) throws(RequestError) -> Topic {
        let suffix = pushType.topicSuffix
        guard let text = try fields.string("topic", maximum: Topic.maximumLength) else {
            guard let topic = Topic(bundleID.name + suffix)
            else { throw fields.error("pushType", "invalid_topic", "the topic would be too long") }
            return topic
        }
        guard let topic = Topic(text) else {
            throw fields.error("topic", "invalid_topic", "use letters, digits, dots, hyphens and underscores")
        }
        let name = pushType.rawValue
        guard suffix.isEmpty || text.hasSuffix(suffix) && text != suffix else {
            throw fields.error("topic", "invalid_topic", "the topic of a push of type \(name) ends with \(suffix)")
        }
        guard !suffix.isEmpty || topic == bundleID || topic.bundleID == topic else {
            throw fields.error("topic", "invalid_topic", "a push of type \(name) has a topic without suffix")
        }
        return topic
    }

    private static func priority(_ fields: JSONFields, pushType: PushType) throws(RequestError) -> Priority {
        guard let value = try fields.integer("priority", in: 0...255)
        else { return pushType == .background ? .powerAware : .immediate }
        guard let priority = UInt8(exactly: value).flatMap(Priority.init(rawValue:))
        else { throw fields.error("priority", "invalid_priority", "use 10, 5 or 1") }
        guard pushType != .background || priority == .powerAware
        else { throw fields.error("priority", "invalid_priority", "a background push has priority 5 only") }
        guard pushType != .liveactivity || priority != .low else {
            throw fields.error("priority", "invalid_priority", "a Live Activity push has priority 10 or 5")
        }
        return priority
    }

    private static func expiration(_ fields: JSONFields) throws(RequestError) -> Expiration {
        // Thirty days are 2,592,000 s: a smaller number is a duration by mistake, not a timestamp.
        guard let seconds = try fields.integer("expiration", in: 0...4_102_444_800) else { return .servicePolicy }
        guard seconds == 0 || seconds > 1_000_000_000 else {
            throw fields.error("expiration", "invalid_expiration", "it is a timestamp in UNIX seconds, not a duration")
        }
        return seconds == 0 ? .immediate : .at(seconds: seconds)
    }

    private mutating func addWarnings(bundleID: Topic) {
        let topic = self.content.topic
        switch self.content.pushType {
        case .mdm where !topic.name.hasPrefix("com.apple.mgmt."):
            self.warn("topic", "the topic of an MDM push is the UID of its certificate, com.apple.mgmt.…")
        case .mdm: break
        case .alert where self.isWallet && !topic.name.hasPrefix("pass."):
            self.warn("topic", "the topic of a pass is its pass type identifier, pass.…")
        case .alert where self.isWallet: break
        case _ where topic != bundleID && topic.bundleID != bundleID:
            self.warn("topic", "the app's devices have tokens for \(bundleID.name): others belong to another topic")
        default: break
        }
        guard self.content.pushType == .pushtotalk else { return }
        if self.content.priority != .immediate { self.warn("priority", "Push to Talk should have priority 10") }
        if self.content.expiration != .immediate { self.warn("expiration", "Push to Talk should have expiration 0") }
    }

    private mutating func warn(_ field: String, _ message: String) {
        self.warnings.append(ContentWarning(field: field, message: message))
    }
}
