import ArgumentParser
import Foundation
import NIOCore
import PushSender
import PushSupport
import PushTypes

/// The push that every device of a direct send gets, apart from token and id.
struct DirectPush {
    /// The notification, with an empty id.
    private let notification: PushNotification
    /// The request headers that the options add.
    private let headers: [HeaderField]
    private let id: String?

    /// Makes the push from the options.
    /// - Throws: A validation error that names the option.
    init(_ options: DirectOptions, content: ContentOptions, app: String?, credential: PushCredential) throws {
        var headers = try options.headers()
        let type = content.pushType.flatMap(PushType.init(rawValue:))
        // Values that the library's types do not have are sent all the same: the push service decides about them.
        func pass(_ name: String, _ value: String?) {
            if let value, let field = HeaderField(name: name, value: value) { headers.append(field) }
        }
        if type == nil { pass("apns-push-type", content.pushType) }
        let priority = content.priority.flatMap(UInt8.init(exactly:)).flatMap(Priority.init(rawValue:))
        if priority == nil { pass("apns-priority", content.priority.map(String.init)) }
        let expiration = content.expiration.flatMap { Expiration(header: String($0)) }
        if expiration == nil { pass("apns-expiration", content.expiration.map(String.init)) }
        self.headers = headers
        self.id = options.id
        self.notification = PushNotification(
            id: "",
            topic: try options.topic(for: type ?? .alert, app: app, credential: credential),
            pushType: type ?? .alert,
            priority: priority ?? (type == .background ? .powerAware : .immediate),
            expiration: expiration ?? .servicePolicy,
            collapseID: content.collapseID,
            payload: ByteBuffer(bytes: try content.payloadBytes(for: type ?? .alert))
        )
    }

    /// Returns the push for one token.
    func push(to token: DeviceToken) -> Push {
        var notification = self.notification
        notification.id = self.id ?? UUID().uuidString.lowercased()
        return Push(notification, to: token, additionalHeaders: self.headers)
    }
}

extension DirectOptions {
    /// Returns the topic that the options name, else the one of the certificate.
    func topic(for type: PushType, app: String?, credential: PushCredential) throws -> Topic {
        if let text = self.topic ?? app.map({ $0 + type.topicSuffix }) {
            guard let topic = Topic(text) else { throw ValidationError("'\(text)' is not a topic.") }
            return topic
        }
        if case .certificate(let certificate) = credential, let topic = certificate.defaultTopic { return topic }
        throw ValidationError("Give --topic, or --app with the bundle id.")
    }
}

extension ContentOptions {
    /// Returns the file of `--payload` byte by byte, or a payload made from the other options.
    func payloadBytes(for type: PushType) throws -> Data {
        if let payload { return try InputFile.data(payload, for: "--payload") }
        guard let aps = self.aps(isBackground: type == .background) else {
            throw ValidationError("Give --title, --body, --badge, --sound or --payload.")
        }
        return try JSONValue.object(["aps": aps]).text
    }
}
