/// An event of a notification on the device, as a receipt reports it.
enum ReportedEvent: String, Hashable, Sendable, Codable, CaseIterable {
    /// The app, or its notification service extension, has it.
    case delivered
    /// The user could see it.
    case shown
    /// The user opened the app with it.
    case opened
    /// The user cleared it.
    case dismissed
    /// The user chose one of its actions.
    case action
    /// The user did what it was sent for.
    case converted
}
