extension Arrival {
    /// Returns the receipts that an arrival is worth, in the order of what happened.
    ///
    /// An opened notification was delivered and shown too, so that a later event implies the earlier ones.
    /// - Parameters:
    ///   - isVisible: `true` for a notification with an alert.
    ///   - presentation: How it is presented in the foreground.
    ///   - capabilities: What the user allows, if that is known.
    func receipts(
        isVisible: Bool,
        presentation: Presentation,
        capabilities: Capabilities?
    ) -> [(event: ReportedEvent, action: String?)] {
        switch self {
        case .background: [(.delivered, nil)]
        case .foreground:
            isVisible && !presentation.isDisjoint(with: [.banner, .list])
                ? [(.delivered, nil), (.shown, nil)] : [(.delivered, nil)]
        case .serviceExtension:
            isVisible && capabilities?.contains(.alert) == true
                ? [(.delivered, nil), (.shown, nil)] : [(.delivered, nil)]
        case .launch, .opened: [(.delivered, nil), (.shown, nil), (.opened, nil)]
        case .dismissed: [(.delivered, nil), (.shown, nil), (.dismissed, nil)]
        case .action(let id, _): [(.delivered, nil), (.shown, nil), (.action, id)]
        }
    }
}
