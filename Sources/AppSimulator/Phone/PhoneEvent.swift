/// A change that the phone's user notices, or that wakes the app.
package enum PhoneEvent: Hashable, Sendable {
    /// The event that a notification was added to the list, or has replaced one there.
    case shown(NotificationEntry, NotificationAppearance)
    /// The event that a push has arrived that shows no notification to the user, for the given reason. `apnsID` is
    /// `nil` if the push came without one.
    case notShown(apnsID: String?, NotShownReason)
    /// The event that the number on the app's icon has changed to this value, where 0 means that no number is shown.
    case badge(Int)
    /// The event that the sound with this name was played without a notification in the list.
    case sound(String)
    /// The event that a push has woken the app in the background. `apnsID` is `nil` if the push came without one.
    case woken(PushContent, apnsID: String?)
    case activity(LiveActivity, LiveActivityChange)
    /// The event that an invalid member of a payload was ignored. The string describes the problem. `apnsID` is `nil`
    /// if the push came without one.
    case problem(String, apnsID: String?)
}

/// The way in which a notification appears.
package struct NotificationAppearance: Hashable, Sendable {
    /// A Boolean value that indicates whether the notification has replaced an earlier one.
    package let replaces: Bool
    package let lightsScreen: Bool
    /// The name of the notification's sound, or `nil` if it appears silently.
    package let sound: String?
}

/// The reason why a push shows no notification.
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
    /// The change that the Live Activity is marked as stale, because its stale date has passed.
    case stale
    case removed
}

/// An error of a user's command or of the phone's folder, with a description for the user.
package struct PhoneError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
