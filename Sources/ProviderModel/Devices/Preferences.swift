package import PushSupport

/// The notifications that a user does not want: categories, and hours without any.
package struct Preferences: Hashable, Sendable {
    /// The maximum number of categories that a device or user opts out of. A request with more is rejected.
    package static let maximumOptOuts = 100
    /// The maximum length of the name of a consent category, in bytes. A longer one is rejected.
    package static let maximumCategory = 64

    /// The consent categories that are not wanted.
    package var optOuts: Set<BytewiseString>
    package var quietHours: QuietHours?

    package init(optOuts: Set<BytewiseString> = [], quietHours: QuietHours? = nil) {
        (self.optOuts, self.quietHours) = (optOuts, quietHours)
    }

    /// Returns whether a text can be the name of a consent category. It must not contain line ends, which separate
    /// stored names.
    package static func isCategory(_ text: String) -> Bool {
        (1...Self.maximumCategory).contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
    }
}

extension Preferences {
    private static let optOutsMember = Member.texts("optOuts", 0...Self.maximumOptOuts, maximum: Self.maximumCategory)
        .described("The consent categories that are not wanted.")
        .parsedEach("invalid_value", Self.categoryForm) { Self.isCategory($0) ? BytewiseString($0) : nil }

    package static let object = RequestObject(optional: [Self.optOutsMember, QuietHours.member]) {
        $0.described("Replaces all earlier preferences.").named("Preferences")
    }

    /// Reads preferences from the members of a JSON object.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws(RequestError) {
        let quietHours = try fields.value(QuietHours.member)
        self.init(optOuts: Set(try fields.value(Self.optOutsMember) ?? []), quietHours: quietHours)
    }

    static let categoryForm = "a consent category has 1 to \(Self.maximumCategory) bytes without control characters"

    package var json: JSONValue {
        var members: [String: JSONValue] = ["optOuts": .array(self.optOuts.sorted().map { .string($0.text) })]
        members["quietHours"] = self.quietHours?.json
        return .object(members)
    }
}
