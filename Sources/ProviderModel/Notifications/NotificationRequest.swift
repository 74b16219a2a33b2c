package import Foundation
package import PushSupport
package import PushTypes

/// A request to send a notification, checked against the rules of the push service.
///
/// A request whose push would certainly be rejected is rejected before anything is stored (APNs reference 1.5, 1.6, 3).
package struct NotificationRequest: Hashable, Sendable {
    /// The maximum number of tokens in one request. A request with more is rejected.
    package static let maximumTokens = 1000

    /// The maximum length of a name, in bytes. A longer one is rejected.
    package static let maximumName = 200

    /// The name that is shown in lists of notifications, or `nil` for none.
    package var name: String?
    package var content: NotificationContent
    /// The warnings about members that are allowed, but probably a mistake. They are not stored.
    package var warnings: [ContentWarning] = []
    package var audience: Audience
    /// The index of each token in the member `tokens`. A repeated token has the index of its first occurrence.
    private var tokenPositions: [DeviceToken: Int] = [:]
    package var environment: PushEnvironment?
    package var guarantee: NotificationRecord.Guarantee = .atLeastOnce
    package var lane: NotificationRecord.Lane
    /// The delivery time, or `nil` to send immediately.
    package var delivery: DeliveryTime?
    /// The pace of sending, or `nil` to send as fast as possible.
    package var pace: PaceSettings?
    /// The rules that decide which recipients are skipped.
    package var consent = ConsentRules()
    /// The notification whose failed recipients this request addresses, or `nil` if it is not a resend.
    package var resendOf: UUID?

    /// The members of a request that do not belong to the content.
    enum Members {
        static let name = Member.text("name", 1...NotificationRequest.maximumName)
        static let guarantee = Member.choice(
            "guarantee",
            of: NotificationRecord.Guarantee.self,
            maximum: 32,
            message: "use atLeastOnce or atMostOnce"
        )
        fileprivate static let urgent = Member.bool("urgent")
        fileprivate static let tokens = Member.texts(
            "tokens",
            1...NotificationRequest.maximumTokens,
            maximum: DeviceToken.maximumLength * 4,
            as: .writtenToken
        )
        private static let audienceOrTokens = AudienceExpression.object.known.union([Self.tokens.name])
        fileprivate static let to = RequestMember<JSONFields>(
            "to",
            .any(of: [RequestObject(required: [Self.tokens]).schema, AudienceExpression.object.schema])
        ) { (fields, name) throws(RequestError) in try fields.fields(name, known: Self.audienceOrTokens) }
    }

    package static let object = Self.makeObject(named: "NotificationRequest")

    /// Returns the description of a request that has the members of a notification, and in addition those in `more`.
    package static func makeObject(named name: String, with more: [any RequestMemberProtocol] = []) -> RequestObject {
        RequestObject(
            required: [Members.to],
            optional: NotificationContent.object.members,
            [
                Members.name, Member.environment, Members.guarantee, Members.urgent, DeliveryTime.member,
                PaceSettings.member, ConsentRules.categoryMember, ConsentRules.quietHoursMember,
            ],
            more
        ) {
            let alert = JSONValue.texts(["title": "Hello", "body": "World"])
            return $0.example(.object(["to": .texts(["user": "alice"]), "alert": alert])).named(name)
        }
    }

    /// Creates a request. An `environment` of `nil` means both, and a `pace` of `nil` means as fast as possible.
    package init(
        content: NotificationContent,
        audience: Audience,
        environment: PushEnvironment? = nil,
        pace: PaceSettings? = nil
    ) {
        (self.content, self.audience, self.environment) = (content, audience, environment)
        self.lane = Self.lane(audience, isPaced: pace != nil)
        self.pace = pace
        self.consent = ConsentRules(for: content.pushType)
    }

    /// Reads a request from JSON text.
    /// - Parameter receipts: The app's level of receipts, which applies if the request names none.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(
        parsing body: Data,
        bundleID: Topic,
        now: Timestamp,
        receipts: ReceiptLevel = .none
    ) throws(RequestError) {
        try self.init(JSONValue(parsing: body), bundleID: bundleID, now: now, receipts: receipts)
    }

    /// Reads a request from a JSON object that names no item of the app's library.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(
        _ json: JSONValue,
        bundleID: Topic,
        now: Timestamp,
        receipts: ReceiptLevel = .none
    ) throws(RequestError) {
        try self.init(JSONFields(json, known: Self.object.known), bundleID: bundleID, now: now, receipts: receipts)
    }

    /// Reads a request from the members of a JSON object.
    /// - Parameter library: The named audiences and the template that the request names.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(
        _ own: JSONFields,
        bundleID: Topic,
        now: Timestamp,
        receipts: ReceiptLevel = .none,
        library: LibraryContents = .none
    ) throws(RequestError) {
        let fields = try library.merged(own)
        self.name = try fields.value(Members.name)
        self.environment = try fields.value(Member.environment)
        (self.audience, self.tokenPositions) = try Self.audience(fields, now: now, named: library.audiences)
        // The state of a Live Activity that is sent later has no default timestamp.
        let isSentLater = fields.members["when"] != nil
        (self.content, self.warnings) = try NotificationContent.read(
            fields,
            bundleID: bundleID,
            now: isSentLater ? nil : now,
            receipts: receipts
        )
        try self.content.checkExpiration(fields, now: now)
        self.warnings += DeprecatedTimes.warnings(in: .object(fields.members))
        self.guarantee = try fields.value(Members.guarantee) ?? .atLeastOnce
        self.delivery = try DeliveryTime.parse(in: fields, acceptedAt: now, expiration: self.content.expiration)
        self.pace = try fields.value(PaceSettings.member)
        let isUrgent = try fields.value(Members.urgent)
        if self.pace != nil, isUrgent == true {
            throw fields.error("urgent", "conflicting_field", "a notification that is sent at a pace is not urgent")
        }
        self.lane = isUrgent.map { $0 ? .urgent : .bulk } ?? Self.lane(self.audience, isPaced: self.pace != nil)
        self.consent = try ConsentRules(fields, isUrgent: isUrgent ?? false, for: self.content.pushType)
        try self.checkActivity(fields)
    }

    /// Returns the index of a token in the member `tokens` of the request, or 0 for another token.
    package func position(of token: DeviceToken) -> Int { self.tokenPositions[token] ?? 0 }

    /// Checks that only updates go to a Live Activity, and warns about an update that names no activity.
    private mutating func checkActivity(_ fields: JSONFields) throws(RequestError) {
        guard case .devices(let audience) = self.audience else { return }
        let isUpdate = self.content.tokenKind == .liveActivityUpdate
        guard isUpdate || !audience.namesActivity else {
            let message = "only a Live Activity push with the event update or end goes to an activity"
            throw fields.error("to.activity", "conflicting_field", message)
        }
        guard isUpdate, !audience.namesActivity else { return }
        let message = "it names no activity: every Live Activity of these devices gets this state"
        self.warnings.append(ContentWarning(field: "to", message: message))
    }

    private static func audience(
        _ fields: JSONFields,
        now: Timestamp,
        named: NamedAudiences
    ) throws(RequestError) -> (Audience, positions: [DeviceToken: Int]) {
        let to = try fields.required(Members.to, "name the audience, for example a user, a tag or tokens")
        guard let texts = try to.value(Members.tokens)
        else { return (.devices(try AudienceExpression(to, now: now, named: named)), [:]) }
        guard to.members.count == 1 else {
            throw to.error("tokens", "conflicting_field", "tokens cannot be combined with conditions: leave those out")
        }
        if let null = to.nulls.sorted().first { throw to.error(null, "invalid_value", "leave it out instead of null") }
        guard !texts.isEmpty else { throw to.error("tokens", "invalid_value", "name at least one token") }
        var tokens: [DeviceToken] = []
        var positions: [DeviceToken: Int] = [:]
        for (index, text) in texts.enumerated() {
            guard let token = DeviceToken(userInput: text), token.bytes.count >= DeviceRequest.minimumToken else {
                throw to.error("tokens[\(index)]", "invalid_token", DeviceRequest.tokenForm)
            }
            guard positions[token] == nil else { continue }
            positions[token] = index
            tokens.append(token)
        }
        return (.tokens(tokens), positions)
    }
}

extension ConsentRules {
    /// Creates the default rules of a push type: quiet hours and the cap apply to alerts only.
    init(for pushType: PushType) { self.init(ignoresQuietHours: pushType != .alert, ignoresCap: pushType != .alert) }

    fileprivate static let categoryMember = Member.text("consentCategory", 1...Preferences.maximumCategory)
        .checked("invalid_value", Preferences.categoryForm) { Preferences.isCategory($0) }
    fileprivate static let quietHoursMember = Member.text(
        "quietHours",
        maximum: 16,
        as: .choice(["skip", "ignore"]).described("Default skip, for an urgent notification ignore.")
    )

    /// Reads `consentCategory` and `quietHours`. An urgent notification ignores the cap, and by default quiet hours.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields, isUrgent: Bool, for pushType: PushType) throws(RequestError) {
        self.init(for: pushType)
        if isUrgent { (self.ignoresQuietHours, self.ignoresCap) = (true, true) }
        self.category = try fields.value(Self.categoryMember)
        switch try fields.value(Self.quietHoursMember) {
        case nil: break
        case "ignore": self.ignoresQuietHours = true
        case "skip": self.ignoresQuietHours = false
        default: throw fields.error("quietHours", "invalid_value", "use skip or ignore")
        }
    }
}
