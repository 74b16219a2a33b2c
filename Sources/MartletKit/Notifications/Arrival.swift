/// The way in which a notification, or the user's reaction to it, reaches the app.
public enum Arrival: Hashable, Sendable {
    /// An arrival in which the user launched the app by opening the notification.
    case launch
    /// The arrival of the notification while the app was in the foreground.
    case foreground
    /// The arrival of a notification that woke the app, or found it in the background (`content-available`).
    case background
    /// An arrival in which the user opened the notification.
    case opened
    /// An arrival in which the user chose the action with this identifier. `text` is the user's input, or `nil` for an
    /// action without text input.
    case action(String, text: String? = nil)
    /// An arrival in which the user dismissed the notification, for categories with the option `customDismissAction`.
    case dismissed
    /// The arrival of the notification in the notification service extension, before the user sees it.
    case serviceExtension
}

/// The way in which the system should present a notification while the app is in the foreground.
public struct Presentation: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let banner = Presentation(rawValue: 1)
    public static let list = Presentation(rawValue: 2)
    public static let badge = Presentation(rawValue: 4)
    public static let sound = Presentation(rawValue: 8)
    public static let all: Presentation = [.banner, .list, .badge, .sound]
}

/// The result of background work, which the system expects from the app.
public enum FetchResult: Hashable, Sendable {
    case newData, noData, failed
}

/// The app's reactions to notifications.
public protocol NotificationHandler: Sendable {
    /// Returns the presentation of a notification in the foreground. The default is ``Presentation/all``.
    func presentation(of notification: ReceivedNotification) async -> Presentation
    /// Does the work for which a notification has woken the app. The default result is ``FetchResult/noData``.
    func fetch(for notification: ReceivedNotification) async -> FetchResult
    /// Shows the content to which an opened notification refers.
    func open(_ notification: ReceivedNotification) async
    /// Carries out the action that the user chose. `text` is the user's input, or `nil` for one without text input.
    func perform(_ action: String, text: String?, of notification: ReceivedNotification) async
}

extension NotificationHandler {
    public func presentation(of notification: ReceivedNotification) async -> Presentation { .all }
    public func fetch(for notification: ReceivedNotification) async -> FetchResult { .noData }
}

/// The values that the app returns to the system after the arrival of a notification.
public struct Reception: Hashable, Sendable {
    /// The notification, with its content decrypted if it was encrypted.
    public let notification: ReceivedNotification
    /// The presentation after an arrival in the foreground. It is empty after any other arrival.
    public let presentation: Presentation
    /// The result of the app's work after an arrival in the background. After others, it is ``FetchResult/noData``.
    public let fetchResult: FetchResult
}
