import ArgumentParser
import Foundation
import NIOCore
import PushSender
import PushSupport
import PushTypes

/// The push that every device of a direct send gets, apart from its token and id.
struct DirectPush {
    private let notification: PushNotification
    private let headers: [HeaderField]
    private let id: String?

    init(_ options: DirectOptions, content: ContentOptions, app: String?, credential: PushCredential) throws {
        var headers = try options.headers()
        let type = content.pushType.flatMap(PushType.init(rawValue:))
        // What our own types do not know goes out all the same: the service shall judge it.
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
            topic: try Self.topic(options, type: type ?? .alert, app: app, credential: credential),
            pushType: type ?? .alert,
            priority: priority ?? (type == .background ? .powerAware : .immediate),
            expiration: expiration ?? .servicePolicy,
            collapseID: content.collapseID,
            payload: ByteBuffer(bytes: try content.payloadBytes(for: type ?? .alert))
        )
    }

    func push(to token: DeviceToken) -> Push {
        var notification = self.notification
        notification.id = self.id ?? UUID().uuidString.lowercased()
        return Push(notification, to: token, additionalHeaders: self.headers)
    }

    private static func topic(
        _ options: DirectOptions,
        type: PushType,
        app: String?,
        credential: PushCredential
    ) throws -> Topic {
        if let text = options.topic ?? app.map({ $0 + type.topicSuffix }) {
            guard let topic = Topic(text) else { throw ValidationError("'\(text)' is no topic.") }
            return topic
        }
        if case .certificate(let certificate) = credential, let topic = certificate.defaultTopic { return topic }
        throw ValidationError("Give --topic, or --app with the bundle id.")
    }
}

extension ContentOptions {
    /// The file of `--payload` byte by byte, or a payload made from the other options.
    func payloadBytes(for type: PushType) throws -> Data {
        if let payload { return try Self.bytes(ofFile: payload) }
        var alert: [String: Any] = [:]
        alert["title"] = self.title
        alert["subtitle"] = self.subtitle
        alert["body"] = self.body
        var aps: [String: Any] = [:]
        aps["alert"] = alert.isEmpty ? nil : alert
        aps["badge"] = self.badge
        aps["sound"] = self.sound
        if type == .background { aps["content-available"] = 1 }
        guard !aps.isEmpty else { throw ValidationError("Give --title, --body, --badge, --sound or --payload.") }
        return try JSONSerialization.data(
            withJSONObject: ["aps": aps],
            options: [.sortedKeys, .withoutEscapingSlashes]
        )
    }

    /// - Parameter path: `-` is standard input.
    static func bytes(ofFile path: String) throws -> Data {
        do {
            return path == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(filePath: path))
        } catch {
            throw SettingsError("--payload: \(path) cannot be read: \(ErrorDescription.of(error))")
        }
    }
}
