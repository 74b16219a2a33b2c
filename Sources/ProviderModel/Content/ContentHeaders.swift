import Foundation
import PushSupport
import PushTypes

/// The part of a notification that becomes request headers (reference 1.5, 1.6), read from an API request.
struct ContentHeaders {
    private enum Members {
        static let pushType = Member.choice("pushType", of: PushType.self, code: "invalid_push_type")
        static let topic = Member.text("topic", maximum: Topic.maximumLength, as: .bundleID)
        static let priority = Member.integer("priority", 0...255, as: .integer(of: [10, 5, 1]))
            .parsed("invalid_priority", "use 10, 5 or 1") { UInt8(exactly: $0).flatMap(Priority.init(rawValue:)) }
        static let collapseID = Member.text(
            "collapseId",
            1...PushNotification.maximumCollapseIDLength,
            pattern: Schema.headerValuePattern
        ).checked("invalid_value", "it is a header: no control characters, and no space at its ends") {
            PushNotification.isHeaderValue($0)
        }
    }

    static let object = RequestObject(
        optional: ContentExpiration.object.members,
        [Members.pushType, Members.topic, Members.priority, Members.collapseID]
    )

    /// The content with the values of its headers. Its payload is still empty.
    let content: NotificationContent
    /// A Boolean value that indicates whether the push updates a Wallet pass, so that its payload is empty.
    let isWallet: Bool
    private(set) var warnings: [ContentWarning] = []

    /// Reads the headers. The topic is derived from `bundleID` unless the request names one.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields, bundleID: Topic) throws(RequestError) {
        let pushType = try Self.pushType(fields)
        let topic = try Self.topic(fields, pushType: pushType, bundleID: bundleID)
        let isEmptyPayload = fields.members["payload"] == .object([:])
        self.isWallet = fields.members["wallet"] == .bool(true) || isEmptyPayload && topic.name.hasPrefix("pass.")
        let expiry = try ContentExpiration(fields)
        var content = NotificationContent(
            topic: topic,
            pushType: pushType,
            priority: try Self.priority(fields, pushType: pushType),
            expiration: expiry.expiration,
            collapseID: try fields.value(Members.collapseID),
            payload: Data()
        )
        content.expiresIn = expiry.seconds
        if WebContent.isWanted(fields) { content.tokenKind = .web }
        self.content = content
        self.addWarnings(bundleID: bundleID)
    }

    /// Returns the push type that the request names, or the one that its other members imply.
    private static func pushType(_ fields: JSONFields) throws(RequestError) -> PushType {
        var type = try fields.value(Members.pushType)
        let implied: [(member: String, types: [PushType])] = [
            ("contentChanged", [.widgets, .controls]), ("fileProvider", [.fileprovider]),
            ("liveActivity", [.liveactivity]), ("mdm", [.mdm]), ("pushToTalk", [.pushtotalk]), ("wallet", [.alert]),
            (WebContent.member, [.alert]),
        ]
        for (member, types) in implied {
            guard let value = fields.members[member], value != .bool(false) else { continue }
            guard types.contains(type ?? types[0]), type != nil || types.count == 1 else {
                let names = types.map(\.rawValue).joined(separator: " or ")
                throw fields.error(member, "conflicting_field", "it belongs to the push type \(names)")
            }
            type = types.count == 1 ? types[0] : type
        }
        return type ?? (Self.wakesAppOnly(fields) ? .background : .alert)
    }

    /// Returns whether the content wakes the app and shows nothing. Such a push has the type background (reference
    /// 1.6).
    private static func wakesAppOnly(_ fields: JSONFields) -> Bool {
        let shown: Set = ["alert", "badge", "sound"]
        if case .object(let payload)? = fields.members["payload"] {
            guard case .object(let aps)? = payload["aps"], aps["content-available"] == .integer(1) else { return false }
            return shown.isDisjoint(with: aps.keys)
        }
        guard fields.members["contentAvailable"] == .bool(true), shown.isDisjoint(with: fields.members.keys)
        else { return false }
        guard case .object(let localizations)? = fields.members["localizations"] else { return true }
        return localizations.values.allSatisfy { localization in
            guard case .object(let members) = localization else { return true }
            return shown.isDisjoint(with: members.keys)
        }
    }

    private static func topic(_ fields: JSONFields, pushType: PushType, bundleID: Topic) throws(RequestError) -> Topic {
        let suffix = pushType.topicSuffix
        guard let text = try fields.value(Members.topic) else {
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
        guard let priority = try fields.value(Members.priority)
        else { return pushType == .background ? .powerAware : .immediate }
        guard pushType != .background || priority == .powerAware else {
            let isDerived = fields.members["pushType"] == nil
            let subject = isDerived ? "content that shows nothing makes a background push, which" : "a background push"
            throw fields.error("priority", "invalid_priority", "\(subject) has priority 5 only")
        }
        guard pushType != .liveactivity || priority != .low else {
            throw fields.error("priority", "invalid_priority", "a Live Activity push has priority 10 or 5")
        }
        return priority
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
