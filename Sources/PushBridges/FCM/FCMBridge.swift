import PushHTTP
import PushStore
import PushSupport

/// The settings of a bridge that speaks FCM's HTTP v1 API. Its name is that of the project.
struct FCMSettings: BridgeSettings, Hashable {
    static let kind = BridgeKind.fcm
    static let members: Set = ["repeatSeconds", "shadow"]

    /// The maximum length of a project's name, in bytes.
    private static let maximumName = 100
    private static let repeats: ClosedRange<Int64> = 1...600

    /// The time within which an equal body of the same caller is the same message, in seconds. If it is `nil`, each
    /// request is a new message.
    let repeatSeconds: Int64?
    /// The settings of shadow mode, or `nil` for a bridge that sends.
    let shadow: ShadowSettings?

    init(_ fields: JSONFields) throws(RequestError) {
        self.repeatSeconds = try fields.integer("repeatSeconds", in: Self.repeats)
        self.shadow = try ShadowSettings(fields)
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
