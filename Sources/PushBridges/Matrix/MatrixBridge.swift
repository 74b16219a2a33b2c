import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport

/// The bridge for Matrix homeservers, which is a Matrix push gateway.
struct MatrixBridge: BridgeFeature {
    static let kind = BridgeKind.matrix
    static let settings: (any BridgeSettings.Type)? = MatrixSettings.self

    private let routes: MatrixRoutes

    init(_ components: BridgeComponents) {
        let provider = components.provider
        let forwarder = UnifiedPushForwarder(
            client: components.strangersClient,
            budgets: provider.budgets,
            time: provider.time
        )
        self.routes = MatrixRoutes(MatrixGateway(provider, forwarder: forwarder), provider)
    }

    func addRoutes(to router: Router<APIContext>) { self.routes.addRoutes(to: router) }
}

/// The settings of a bridge for a Matrix app. The name of the bridge is the `app_id` that the app gives its homeserver,
/// or a pattern in which `*` matches any characters and `?` matches one.
struct MatrixSettings: BridgeSettings, Hashable {
    /// The maximum length of an `app_id`, in characters (Matrix client-server API, pushers). No longer one matches.
    static let maximumName = 64
    private static let otherKeys = "*"

    private enum Members {
        static let counts = Member.bool("counts")
            .described("Sends the numbers of unread messages. Default true.")
        static let sound = Member.bool("sound")
            .described("Plays the sound that the user's push rules name. Default false.")
        static let collapse = Member.bool("collapse")
            .described("Replaces earlier pushes of a room by the newest, for all users of the app. Default false.")
        static let unifiedPush = Member.bool("unifiedPush")
            .described("Forwards to pushkeys that are UnifiedPush addresses. Default false.")
        static let templateNames = (MatrixAlert.keys + [MatrixSettings.otherKeys]).sorted()
            .map { Member.text($0, 1...LibraryText.maximumName) }
        static let templates = Member.object("templates", RequestObject(optional: Self.templateNames))
            .described("The names of the app's templates, by loc-key; * stands for all others.")
    }

    static let object = RequestObject(
        optional: [
            Members.counts, Members.sound, Members.collapse, Members.templates, Members.unifiedPush,
        ]
    )

    /// A Boolean value that indicates whether numbers of unread messages are sent, as a badge or as `unread_count`.
    /// Default `true`.
    let counts: Bool
    /// A Boolean value that indicates whether pushes have the sound that the user's push rules name. Default `false`:
    /// the app's extension chooses the sound.
    let sound: Bool
    /// A Boolean value that indicates whether a push for a room replaces earlier ones of that room, for all users of
    /// the app. Default `false`.
    let collapse: Bool
    /// The names of the app's templates for alerts, by localization key. `*` stands for all other localization keys.
    let templates: [String: String]
    /// A Boolean value that indicates whether pushkeys that are UnifiedPush addresses are forwarded as Web Push.
    /// Default `false`.
    let unifiedPush: Bool

    static func check(name: String) throws(RequestError) {
        guard name.unicodeScalars.count <= Self.maximumName else {
            throw .invalid("bridge", "an app_id has at most \(Self.maximumName) characters")
        }
    }

    init(_ fields: JSONFields) throws(RequestError) {
        self.counts = try fields.value(Members.counts) ?? true
        self.sound = try fields.value(Members.sound) ?? false
        self.collapse = try fields.value(Members.collapse) ?? false
        self.unifiedPush = try fields.value(Members.unifiedPush) ?? false
        let templates = try fields.value(Members.templates)
        var names: [String: String] = [:]
        if let templates {
            for name in Members.templateNames { names[name.name] = try templates.value(name) }
        }
        self.templates = names
    }

    /// Returns the name of the template for a localization key, or `nil` if the settings name none for it.
    func template(for key: String) -> String? { self.templates[key] ?? self.templates[Self.otherKeys] }
}
