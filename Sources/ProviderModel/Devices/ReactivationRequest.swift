package import PushSupport
package import PushTypes

/// The request that undoes deactivations of tokens.
package enum ReactivationRequest {
    private static let (from, to) = (Member.time("from"), Member.time("to"))
    private static let reason = Member.text("reason", 1...Member.maximumText)
        .described("That the push service gave, such as DeviceTokenNotForTopic.")
    private static let notification = Member.id("notification", "use a notification's id")
        .described("Whose pushes led to them.")
    package static let dryRun = Member.bool("dryRun").described("true counts and changes nothing.")

    package static let object = RequestObject(
        required: [Self.from],
        optional: [Self.to, Self.reason, Member.environment, Self.notification, Self.dryRun]
    ) {
        $0.described("The deactivations to undo. Without to, until now.")
            .example(.texts(["from": "2026-11-22T10:00:00Z", "reason": "DeviceTokenNotForTopic"]))
    }

    /// Reads the conditions on the deactivations that are to be undone.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func filter(_ fields: JSONFields, now: Timestamp) throws(RequestError) -> DeactivationFilter {
        let from = try fields.required(Self.from, "name the time of the first deactivation to undo")
        // The end is exclusive, and a deactivation of this millisecond counts.
        let to = try fields.value(Self.to) ?? now.advanced(by: .milliseconds(1))
        guard from < to else { throw fields.error("to", "invalid_value", "to is later than from") }
        return DeactivationFilter(
            from: from,
            to: to,
            reason: try fields.value(Self.reason),
            environment: try fields.value(Member.environment),
            notification: try fields.value(Self.notification)
        )
    }
}
