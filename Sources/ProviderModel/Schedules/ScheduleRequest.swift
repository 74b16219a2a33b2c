package import PushSupport

/// The requests that add, replace and preview a schedule.
package enum ScheduleRequest {
    package static let name = Member.text("name", 1...200)
    package static let notification = Member.object("notification", NotificationRequest.object)
    package static let object = RequestObject(required: [Self.name, RecurringSchedule.member, Self.notification]) {
        $0.named("ScheduleRequest")
    }
    package static let preview = RequestObject(required: [RecurringSchedule.member])

    /// Rejects absolute times in the notification, which would suit one run only.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func checkTimes(_ notification: JSONFields) throws(RequestError) {
        if let expiration = notification.members["expiration"], expiration != .integer(0) {
            let message = "one time cannot suit every run: use expiresIn, which counts from each run, or 0"
            throw notification.error("expiration", "conflicting_field", message)
        }
        guard case .object(let when)? = notification.members["when"] else { return }
        for name in ["at", "localTime"] where when[name] != nil {
            let message = "the schedule sets the time: use window alone"
            throw notification.error("when.\(name)", "conflicting_field", message)
        }
    }
}
