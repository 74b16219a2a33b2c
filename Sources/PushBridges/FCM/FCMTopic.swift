import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The topics of FCM, which the provider stores as tags of devices.
enum FCMTopic {
    private static let prefix = "topic:"
    /// The maximum length of a topic's name, in bytes. With the prefix, the name fits into a tag.
    static let maximumName = Member.maximumText - FCMTopic.prefix.utf8.count
    private static let path = "/topics/"

    static func tag(_ name: String) -> String { Self.prefix + name }

    static func name(ofTag tag: String) -> String? {
        tag.hasPrefix(Self.prefix) ? String(tag.dropFirst(Self.prefix.count)) : nil
    }

    /// Returns the name of a topic from a string with or without the prefix `/topics/`, or `nil` if it is invalid.
    static func name(_ text: String) -> String? {
        let name = text.hasPrefix(Self.path) ? String(text.dropFirst(Self.path.count)) : text
        let isName =
            (1...Self.maximumName).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isAlphanumeric || "-_.~%".utf8.contains($0) }
        return isName ? name : nil
    }
}

/// A token in a request to FCM's Instance ID service.
enum InstanceIDToken: Hashable, Sendable {
    case token(DeviceToken)
    /// A string that is not a token of Apple's push service. Its result is ``TopicResult/invalid``.
    case invalid

    init(_ text: String) {
        if let token = DeviceToken(userInput: text), token.bytes.count >= DeviceRequest.minimumToken {
            self = .token(token)
        } else {
            self = .invalid
        }
    }

    var token: DeviceToken? { if case .token(let token) = self { token } else { nil } }
}

/// The body of `batchAdd` and `batchRemove`: tokens, and the topic to subscribe them to or unsubscribe them from.
struct TopicBatch: Hashable, Sendable {
    /// The maximum length of a request body, in bytes. A longer one is rejected.
    static let maximumBody = 1024 * 1024
    static let maximumTokens = 1000

    let topic: String
    let tokens: [InstanceIDToken]

    /// Parses the body. Throws the ``FCMError`` with which the whole request fails.
    init(_ body: Data) throws(FCMError) {
        let fields = try InstanceIDBody.fields(body)
        guard let text = try fields.text("to"), let topic = FCMTopic.name(text) else {
            throw .invalid("to", "name a topic, such as /topics/news")
        }
        self.topic = topic
        self.tokens = try InstanceIDBody.texts("registration_tokens", in: fields, most: Self.maximumTokens)
            .map(InstanceIDToken.init)
    }
}

/// The body of `batchImport`: device tokens of Apple's push service that are to be registered.
struct ImportBatch: Hashable, Sendable {
    static let maximumTokens = 100

    let application: Topic
    let environment: PushEnvironment
    let texts: [String]

    /// Parses the body. Throws the ``FCMError`` with which the whole request fails.
    init(_ body: Data) throws(FCMError) {
        let fields = try InstanceIDBody.fields(body)
        guard let text = try fields.text("application"), let application = Topic(text) else {
            throw .invalid("application", "name the app by its bundle id")
        }
        self.application = application
        self.environment = try fields.flag("sandbox") ? .sandbox : .production
        self.texts = try InstanceIDBody.texts("apns_tokens", in: fields, most: Self.maximumTokens)
    }
}

private enum InstanceIDBody {
    static func fields(_ body: Data) throws(FCMError) -> ProtoFields {
        guard let json = try? JSONValue(parsing: body) else { throw .invalid("body", "it is not valid JSON") }
        return try ProtoFields(json, path: "")
    }

    /// Returns the strings of the array `name`. Throws ``FCMError`` unless there are 1 to `most` of them.
    static func texts(_ name: String, in fields: ProtoFields, most: Int) throws(FCMError) -> [String] {
        guard case .array(let values)? = fields.value(name), (1...most).contains(values.count) else {
            throw .invalid(name, "name 1 to \(most) tokens")
        }
        var texts: [String] = []
        for (index, value) in values.enumerated() {
            guard case .string(let text) = value else { throw .invalid("\(name)[\(index)]", "it must be a text") }
            texts.append(text)
        }
        return texts
    }
}

enum TopicResult: String, Hashable, Sendable {
    case done = ""
    case invalid = "INVALID_ARGUMENT"
    case notFound = "NOT_FOUND"
    case tooMany = "TOO_MANY_TOPICS"

    var json: JSONValue { self == .done ? .object([:]) : .object(["error": .string(self.rawValue)]) }
}
