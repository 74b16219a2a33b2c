import PushStore
import PushSupport
import PushTypes

extension ConsentRules {
    /// The rules of a push type where a request says nothing: quiet hours and the cap are about what people see.
    init(for pushType: PushType) {
        self.init(ignoresQuietHours: pushType != .alert, ignoresCap: pushType != .alert)
    }

    /// Reads `consentCategory` and `quietHours`. What a request calls urgent ignores quiet hours and the cap.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields, isUrgent: Bool, for pushType: PushType) throws(RequestError) {
        self.init(for: pushType)
        if isUrgent { (self.ignoresQuietHours, self.ignoresCap) = (true, true) }
        self.category = try fields.string("consentCategory", maximum: Preferences.maximumCategory)
        if let category = self.category, !Preferences.isCategory(category) {
            throw fields.error("consentCategory", "invalid_value", Preferences.categoryForm)
        }
        switch try fields.string("quietHours", maximum: 16) {
        case nil: break
        case "ignore": self.ignoresQuietHours = true
        case "skip": self.ignoresQuietHours = false
        default: throw fields.error("quietHours", "invalid_value", "use skip or ignore")
        }
    }
}
