import PushHTTP
import PushSupport
import WebPages

/// Creates the fields of a form for members of an API request, from localized labels and hints. The label of the field
/// `url` is the localized text `AREA.url`, and its hint is `AREA.urlHint`.
struct MemberFields {
    let texts: LocalizedTexts
    let area: String
    /// The members of the API request, which determine the bounds of the fields.
    let list: RequestObject

    /// Returns the field for a member.
    /// - Parameters:
    ///   - path: The path of the member in ``list``, or `nil` if it equals the name of the field.
    ///   - label: The name of the localized text that is the label, or `nil` if it equals the name of the field.
    ///   - hint: The name of the localized text that is the hint, or `nil` for the hint with the name of the field, if
    ///     there is one.
    func field(
        _ name: String,
        at path: String? = nil,
        _ control: FormField.Control = .line(type: "text"),
        label: String? = nil,
        value: String? = nil,
        values: [String] = [],
        hint: String? = nil
    ) -> FormField {
        FormField(
            name,
            of: self.list,
            at: path,
            self.texts["\(self.area).\(label ?? name)"],
            control,
            value: value,
            values: values,
            hint: self.texts.text("\(self.area).\(hint ?? "\(name)Hint")")
        )
    }

    /// Returns the permitted values of a member, each with the localized text `AREA.LABELS.VALUE` as its label.
    func options(_ name: String, _ labels: String) -> [(value: String, label: String)] {
        self.list[name].choices.map { ($0, self.texts["\(self.area).\(labels).\($0)"]) }
    }
}

extension FormData {
    /// Returns the value of a field, or `nil` if it is empty or absent.
    /// - Throws: ``RequestError`` for a value that is longer than the API member may be.
    func text(_ name: String, of member: Schema) throws(RequestError) -> String? {
        try self.text(name, maximum: member.maximumLength ?? .max)
    }

    /// Returns the value of a field as a number, or `nil` if it is empty or absent.
    /// - Throws: ``RequestError`` for a value that is not a number or is outside the bounds of the API member.
    func number(_ name: String, of member: Schema) throws(RequestError) -> Int64? {
        try self.number(name, in: member.range ?? Int64.min...Int64.max)
    }
}
