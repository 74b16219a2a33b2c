/// The use for which the system gave a token.
///
/// An app has a token for each; a push goes to tokens of its kind only.
public enum TokenKind: Hashable, Sendable {
    /// Alerts, badges, sounds and background updates.
    case alert
    case voip
    case complication
    case fileProvider
    case location
    case pushToTalk
    /// The start of Live Activities.
    case liveActivityStart
    /// Updates and the end of one Live Activity, by the id that the app gives it, such as `order-42`.
    case liveActivityUpdate(activity: String)
    case widgets
    case controls

    /// The kind's word in the API.
    var name: String {
        switch self {
        case .alert: "alert"
        case .voip: "voip"
        case .complication: "complication"
        case .fileProvider: "fileProvider"
        case .location: "location"
        case .pushToTalk: "pushToTalk"
        case .liveActivityStart: "liveActivityStart"
        case .liveActivityUpdate: "liveActivityUpdate"
        case .widgets: "widgets"
        case .controls: "controls"
        }
    }

    /// The Live Activity of an update token.
    var activity: String? { if case .liveActivityUpdate(let activity) = self { activity } else { nil } }

    /// The name of the place that a token of the kind has in an installation.
    var place: String { self.activity.map { "\(self.name) \($0)" } ?? self.name }
}
