import PushStore
import PushSupport
import PushTypes

extension ConsentRules {
    /// The rules of a push type where a request says nothing: quiet hours and the cap are about what people see.
    init(for pushType: PushType) {
        self.init(ignoresQuietHours: pushType != .alert, ignoresCap: pushType != .alert)
    }

    static let categoryMember = Member.text("consentCategory", 1...Preferences.maximumCategory)
        .checked("invalid_value", Preferences.categoryForm) { Preferences.isCategory($0) }
    static let quietHoursMember = Member.text(
        "quietHours",
        maximum: 16,
        as: .choice(["skip", "ignore"]).described("Default skip, for an urgent notification ignore.")
    )

    /// Reads `consentCategory` and `quietHours`. What a request calls urgent ignores quiet hours and the cap.
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
