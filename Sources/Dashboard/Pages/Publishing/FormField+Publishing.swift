import WebPages

extension FormField {
    /// Returns a line of the forms of publishing, whose label and hint have the name of the field in the texts.
    ///
    /// - Parameter values: The values of the form by the names of its fields.
    static func publishing(
        _ name: String,
        _ type: String = "text",
        in values: [String: String],
        maximum: Int? = nil,
        isRequired: Bool = false,
        texts: LocalizedTexts
    ) -> FormField {
        FormField(
            name,
            texts["publishing.fields.\(name)"],
            .line(type: type),
            value: values[name] ?? "",
            hint: texts.text("publishing.hints.\(name)"),
            isRequired: isRequired,
            maximum: maximum
        )
    }
}
