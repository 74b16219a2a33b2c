import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The settings of a bridge for a Matrix app. Its name is the `app_id` that the app gives its homeserver, or a pattern with `*` for
/// any characters and `?` for one.
struct MatrixSettings: BridgeSettings, Hashable {
    static let kind = BridgeKind.matrix
    static let members: Set<String> = ["counts", "sound", "collapse", "templates", "unifiedPush"]

    /// The maximum length of an `app_id`, in characters (client-server API, pushers).
    static let maximumName = 64

    /// Indicates whether the numbers of unread messages are sent, as a badge or as `unread_count`. Default `true`.
    let counts: Bool
    /// Indicates whether the sound that the user's push rules name is played. Default `false`: the app's extension
    /// decides.
    let sound: Bool
    /// Indicates whether the newest push of a room replaces earlier ones, for all users of the app. Default `false`.
    let collapse: Bool
    /// The names of the app's templates for the texts, by loc-key. `*` stands for all other loc-keys.
    let templates: [String: String]
    /// Indicates whether pushkeys that are UnifiedPush addresses are forwarded as Web Push. Default `false`.
    let unifiedPush: Bool

    static func check(name: String) throws(RequestError) {
        guard name.unicodeScalars.count <= Self.maximumName else {
            throw .invalid("bridge", "an app_id has at most \(Self.maximumName) characters")
        }
    }

    init(_ fields: JSONFields) throws(RequestError) {
        self.counts = try fields.bool("counts") ?? true
        self.sound = try fields.bool("sound") ?? false
        self.collapse = try fields.bool("collapse") ?? false
        self.unifiedPush = try fields.bool("unifiedPush") ?? false
        let known = Set(MatrixAlert.keys + [Self.otherKeys])
        let templates = try fields.fields("templates", known: known)
        var names: [String: String] = [:]
        for key in templates?.members.keys.sorted() ?? [] {
            names[key] = try templates?.string(key, maximum: LibraryText.maximumName)
        }
        self.templates = names
    }

    private static let otherKeys = "*"

    /// Returns the name of the template for a loc-key, or `nil` for none.
    func template(for key: String) -> String? { self.templates[key] ?? self.templates[Self.otherKeys] }
}
