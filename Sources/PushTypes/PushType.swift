/// The kind of a notification: the header `apns-push-type` (reference 1.6).
public enum PushType: String, CaseIterable, Hashable, Sendable {
    /// An alert, a badge or a sound.
    case alert
    /// An update in the background, without the user's notice.
    case background
    /// An update of a complication on a watch.
    case complication
    /// A reload of an app's controls.
    case controls
    /// A change of a file provider's content.
    case fileprovider
    /// A start, an update or the end of a Live Activity.
    case liveactivity
    /// A request for the location of the device.
    case location
    /// A message of a server that manages devices.
    case mdm
    /// An update of a Push to Talk session.
    case pushtotalk
    /// An incoming call.
    case voip
    /// A reload of an app's widgets.
    case widgets

    /// The part of the topic after the bundle id. It is empty where the topic is the bundle id or, for `mdm`, the UID of a
    /// certificate.
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    /// The largest payload over HTTP/2, in bytes (reference 3.6).
    public var maximumPayloadSize: Int { self == .voip ? 5120 : 4096 }
}
