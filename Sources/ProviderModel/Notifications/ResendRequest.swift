package import Foundation
package import PushSupport
package import PushTypes

/// A request to send a notification again, to those recipients to which it was not delivered.
package struct ResendRequest: Sendable {
    private static let statesMember = Member.texts("states", 1...3, maximum: 16, as: .choice(Self.states.map(\.word)))
        .described("Default rejected and failed.")
    private static let reasonsMember = Member.texts("reasons", 1...50, maximum: 300)
        .described("Default all but those for which the token is at fault.")
    private static let nameMember = NotificationRequest.Members.name.described("Default that of the first.")

    package static let object = RequestObject(
        optional: ContentExpiration.object.members,
        [Self.statesMember, Self.reasonsMember, Self.nameMember]
    ) { $0.named("ResendRequest") }

    /// The states that a request may name.
    private static let states: [DeliveryRecord.State] = [.rejected, .failed, .unknown]
    /// The states of a request that names none. Recipients in the state `unknown` may have got the notification, so a
    /// request has to name that state explicitly.
    static let defaultStates: Set<DeliveryRecord.State> = [.rejected, .failed]

    /// The reasons that concern the token. Recipients with one are left out by default: another push would fail too.
    static let reasonsOfTokens =
        [Reason.badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .unregistered].map(\.rawValue)
        + [EndingCause.registeredElsewhere.rawValue]

    private let fields: JSONFields
    private let outcomes: RecipientOutcomes
    private let expiry: ContentExpiration
    private let name: String?

    /// Reads the request.
    /// - Parameter original: The id of the notification that is sent again.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields, of original: UUID) throws(RequestError) {
        self.fields = fields
        let words = try fields.value(Self.statesMember)
        var states = Self.defaultStates
        if let words {
            states = Set(words.compactMap { word in Self.states.first { $0.word == word } })
            guard !states.isEmpty, states.count == Set(words).count
            else { throw fields.error("states", "invalid_value", "name some of rejected, failed and unknown") }
        }
        let reasons = try fields.value(Self.reasonsMember)
        guard reasons?.isEmpty != true else {
            throw fields.error("reasons", "invalid_value", "name at least one reason")
        }
        self.outcomes = RecipientOutcomes(
            of: original,
            states: states,
            reasons: reasons,
            exceptReasons: reasons == nil ? Self.reasonsOfTokens : []
        )
        self.expiry = try ContentExpiration(fields)
        self.name = try fields.value(Self.nameMember)
    }

    /// Returns the request for the new notification.
    /// - Parameter deliveries: The deliveries of the original if it named tokens, or an empty list otherwise.
    /// - Throws: ``RequestError`` if the original has not ended, has expired, or has no failed recipient.
    package func request(
        _ original: NotificationRecord,
        _ deliveries: [DeliveryRecord],
        now: Timestamp
    ) throws(RequestError) -> NotificationRequest {
        guard [.done, .cancelled].contains(original.state), original.progress.retrying == 0 else {
            let message = "it is \(original.state.rawValue): it can be sent again once it has ended"
            throw RequestError(.conflict, code: "wrong_state", message: message, path: "notification")
        }
        var content = original.content
        if self.fields.members.keys.contains(where: ContentExpiration.object.known.contains) {
            (content.expiration, content.expiresIn) = (self.expiry.expiration, self.expiry.seconds)
            try content.checkExpiration(self.fields, now: now)
        } else if case .at(let seconds) = content.expiration, Timestamp(seconds: seconds) <= now {
            throw self.fields.error(
                "expiration",
                "past_time",
                "its expiration has passed: give expiresIn or expiration"
            )
        }
        var request = NotificationRequest(
            content: content,
            audience: try self.audience(original, deliveries),
            environment: original.environment,
            pace: original.pace
        )
        (request.name, request.guarantee, request.lane) = (
            self.name ?? original.name, original.guarantee, original.lane
        )
        (request.resendOf, request.consent) = (original.id, original.consent)
        // The send window stays the same, and the start is now.
        if var hours = original.delivery, hours.window != nil {
            hours.beginning = .now
            request.delivery = hours
        }
        return request
    }

    private func audience(_ original: NotificationRecord, _ deliveries: [DeliveryRecord]) throws(RequestError)
        -> Audience
    {
        let failed = deliveries.filter { self.outcomes.holds($0.state, reason: $0.reason) }
        switch original.audience {
        case .devices: return .devices(.outcomes(self.outcomes))
        case .channel:
            guard !failed.isEmpty else { throw Self.nobody }
            return original.audience
        case .tokens: break
        }
        let recipients = Set(failed.map(\.recipient))
        let chosen = original.namedRecipients.filter { recipients.contains($0.id) }.map(\.token)
        guard !chosen.isEmpty else { throw Self.nobody }
        return .tokens(chosen)
    }

    /// The error of a resend if no recipient has failed.
    package static var nobody: RequestError {
        let message = "none of its recipients failed for a reason that another try could mend"
        return RequestError(.conflict, code: "nothing_to_resend", message: message, path: "notification")
    }

    /// The error of a resend if some of the original's deliveries are not in the ledger any more.
    package static var forgotten: RequestError {
        RequestError(
            .conflict,
            code: "forgotten",
            message: "its deliveries are being deleted for their age",
            path: "notification"
        )
    }
}
