/// A change that the phone's user notices, or that wakes the app.
package enum PhoneEvent: Hashable, Sendable {
    /// A notification is in the list.
    case shown(NotificationEntry, NotificationAppearance)
    /// A push shows nothing.
    case notShown(apnsID: String?, NotShownReason)
    /// The number on the app's icon has changed; 0 for none.
    case badge(Int)
    /// A sound without a notification in the list.
    case sound(String)
    /// A push has woken the app in the background.
    case woken(PushContent, apnsID: String?)
    /// A Live Activity has changed.
    case activity(LiveActivity, LiveActivityChange)
    /// A member of a payload cannot be used.
    case problem(String, apnsID: String?)
}

/// The way in which a notification appears.
package struct NotificationAppearance: Hashable, Sendable {
    /// Indicates that it has replaced an earlier one.
    package let replaces: Bool
    package let lightsScreen: Bool
    /// The name of the sound; `nil` for silence.
    package let sound: String?
}

/// The reason why a push shows nothing.
package enum NotShownReason: String, Hashable, Sendable {
    case alertsDenied = "alerts_denied"
    case repeated
    case noContent = "no_content"
    case background
    case activityEnded = "activity_ended"
    case activityOutdated = "activity_outdated"
    case activityIncomplete = "activity_incomplete"
    case wakingDenied = "waking_denied"

    package var text: String {
        switch self {
        case .alertsDenied: "the user allows no alerts"
        case .repeated: "it arrived before"
        case .noContent: "it has nothing to show"
        case .background: "a background push is never shown"
        case .activityEnded: "no Live Activity that it could change is running"
        case .activityOutdated: "a newer push has changed the Live Activity"
        case .activityIncomplete: "members that it needs are missing"
        case .wakingDenied: "the user allows no background refresh"
        }
    }
}

/// A change of a Live Activity.
package enum LiveActivityChange: String, Hashable, Sendable {
    case started, updated, ended
    /// Its stale date has passed.
    case stale
    /// It has left the Lock Screen.
    case removed
}

/// An error of an action of the user, as a text.
package struct PhoneError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
