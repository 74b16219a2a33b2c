import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport

extension BridgeKind {
    /// The kind of bridge that speaks the HTTP v1 API of Firebase Cloud Messaging. A bridge's name is the project id.
    static let fcm = BridgeKind("fcm")
}

struct FCMBridge: BridgeFeature {
    static let kind = BridgeKind.fcm
    static let settings: (any BridgeSettings.Type)? = FCMSettings.self
    static let hasSecretInURL = true

    private let messages: FCMRoutes
    private let topics: FCMTopicRoutes

    init(_ components: BridgeComponents) {
        let (store, time) = (components.provider.store, components.provider.time)
        let access = FCMAccess(
            access: components.authenticator,
            table: BridgeTable(Self.kind, store: store),
            store: store
        )
        let sender = FCMSender(submission: components.submission)
        self.messages = FCMRoutes(access: access, sender: sender, shadow: components.shadow, time: time)
        self.topics = FCMTopicRoutes(
            access: access,
            sender: sender,
            store: store,
            registrar: components.provider.registrar,
            time: time
        )
    }

    func addRoutes(to router: Router<APIContext>) {
        self.messages.addRoutes(to: router)
        self.topics.addRoutes(to: router)
    }
}

struct FCMSettings: BridgeSettings, Hashable {
    /// The maximum length of a project id, in bytes. A bridge with a longer name is rejected.
    private static let maximumName = 100

    private enum Members {
        static let repeatSeconds = Member.integer("repeatSeconds", 1...600)
            .described("The time within which an equal body of the same caller is the same message. Default none.")
    }

    static let object = RequestObject(optional: [Members.repeatSeconds, ShadowSettings.member])

    /// The time within which an equal body from the same caller is treated as a repetition of the same message, in
    /// seconds. If it is `nil`, each request is a new message.
    let repeatSeconds: Int64?
    /// The settings of shadow mode (``ShadowForwarder``), in which the bridge sends no pushes, or `nil` in normal mode.
    let shadow: ShadowSettings?

    init(_ fields: JSONFields) throws(RequestError) {
        self.repeatSeconds = try fields.value(Members.repeatSeconds)
        self.shadow = try fields.value(ShadowSettings.member)
    }

    static func check(name: String) throws(RequestError) {
        let isName =
            name.utf8.count <= Self.maximumName
            && name.utf8.allSatisfy { $0.isAlphanumeric || "-.:_".utf8.contains($0) }
        guard isName else {
            throw RequestError.invalid("bridge", "an fcm bridge has the name of a project: letters, digits and hyphens")
        }
    }
}
