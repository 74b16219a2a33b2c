import ArgumentParser
import Foundation
import NIOCore
import PushSender
import PushSupport
import PushTypes

/// The options for sending directly to a push service.
struct DirectOptions: ParsableArguments {
    @Option(help: "A .p8 key, .p12 archive or PEM file, to send directly to a push service.") var credential: String?
    @Option(help: "The private key of a PEM certificate, if it is in another file.") var credentialKey: String?
    @Option(help: "Team id, for a .p8 key.") var teamID: String?
    @Option(help: "Key id, for a .p8 key; default: from the file name AuthKey_<key id>.p8.") var keyID: String?
    @Option(help: "production or sandbox for Apple's services (port 2197: production:2197), else HOST:PORT.")
    var service: String?
    @Option(help: "PEM file with an authority to trust besides the system's, such as a gateway's.")
    var authority: String?
    @Option(help: "The topic; default: --app with the suffix of the push type, or the certificate's own topic.")
    var topic: String?
    @Option(help: "A file with one device token per line; '-' is standard input.") var tokens: String?
    @Option(help: "apns-id, for a single token; default: a new one for each.") var id: String?
    @Option(help: "NAME=VALUE, a request header; replaces one of the same name. Repeat it for several.")
    var header: [String] = []
    @OptionGroup var passphrase: SettingFlags<CredentialSettings>
    @OptionGroup var proxy: SettingFlags<SendSettings>
    @Option(help: "The maximum number of connections.") var connections = 1
    @Option(help: "The maximum number of requests in flight per connection.") var inFlight = 1000
    @Option(help: "Seconds that a push may wait for a connection.") var patience = 10

    func validate() throws {
        guard self.credential != nil else {
            let given = [
                self.credentialKey, self.teamID, self.keyID, self.service, self.authority, self.topic, self.tokens,
                self.id,
            ]
            guard given.allSatisfy({ $0 == nil }), self.header.isEmpty, self.passphrase.values.isEmpty,
                self.proxy.values.isEmpty
            else {
                throw ValidationError("Sending straight to a push service needs --credential.")
            }
            return
        }
        guard self.service != nil else { throw ValidationError("Give --service: production, sandbox or HOST:PORT.") }
        guard (1...64).contains(self.connections) else { throw ValidationError("--connections is 1 to 64.") }
        guard (1...10_000).contains(self.inFlight) else { throw ValidationError("--in-flight is 1 to 10000.") }
        guard (1...3600).contains(self.patience) else { throw ValidationError("--patience is 1 to 3600 seconds.") }
    }

    /// Returns the header fields that the options add to each request.
    /// - Throws: A validation error for an invalid field.
    func headers() throws -> [HeaderField] {
        try self.header.map { text in
            guard let equals = text.firstIndex(of: "="),
                let field = HeaderField(
                    name: String(text[..<equals]),
                    value: String(text[text.index(after: equals)...])
                )
            else { throw ValidationError("'\(text)' is not a header NAME=VALUE.") }
            return field
        }
    }
}

/// The push that the command itself sends to every device, without a provider. Only the token and the id differ.
struct DirectPush {
    /// The notification with an empty id, which each push replaces.
    private let notification: PushNotification
    private let headers: [HeaderField]
    private let id: String?

    /// Creates the push from the options.
    /// - Throws: A validation error that names the option.
    init(_ options: DirectOptions, content: ContentOptions, app: String?, credential: PushCredential) throws {
        var headers = try options.headers()
        let type = content.pushType.flatMap(PushType.init(rawValue:))
        // Values that PushSender's types do not have are sent as headers: the push service decides about them.
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

    func push(to token: DeviceToken) -> Push {
        var notification = self.notification
        notification.id = self.id ?? UUID().uuidString.lowercased()
        return Push(notification, to: token, additionalHeaders: self.headers)
    }
}

extension DirectOptions {
    /// Returns the topic from the options, or else the topic of the certificate.
    /// - Throws: A validation error if there is neither.
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
    /// Returns the bytes of the file of `--payload` unchanged, or a payload that is built from the other options.
    /// - Throws: A validation error if the options describe no payload.
    func payloadBytes(for type: PushType) throws -> Data {
        if let payload { return try InputFile.data(payload, for: "--payload") }
        guard let aps = self.aps(isBackground: type == .background) else {
            throw ValidationError("Give --title, --body, --badge, --sound or --payload.")
        }
        return try JSONValue.object(["aps": aps]).text
    }
}
