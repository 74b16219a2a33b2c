package import PushTypes

/// The stored steps from the request to the opening, which a notification and all its deliveries share.
package struct NotificationBeginning: Hashable, Sendable {
    package var acceptance: AcceptanceRecord
    package var openedAt: Timestamp?
}

/// Everything that is stored about a notification, besides its record.
package struct NotificationHistory: Hashable, Sendable {
    package var beginning: NotificationBeginning
    package var pages: PageSummary?
    package var retryPages: PageSummary?
    /// The events of the first and of the last page.
    package var firstEvents, lastEvents: PageEvents?
}
