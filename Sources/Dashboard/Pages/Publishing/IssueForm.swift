import PushStore
import PushSupport
import WebPages

/// The form of an issue: its fields, and the API's request of them.
struct IssueForm {
    private var values: [String: String]
    /// Indicates whether the product id may change, which it may until the issue is published for the first time.
    private let hasProductID: Bool

    /// Makes an empty form.
    init() { (self.values, self.hasProductID) = ([:], true) }

    /// Makes the form of a stored issue.
    init(_ issue: IssueRecord) {
        self.values = [
            "productId": issue.productID, "title": issue.title, "number": issue.number ?? "",
            "date": issue.date.description, "access": issue.access.rawValue,
        ]
        self.hasProductID = issue.publishedAt == nil
    }

    /// Makes the form as it was typed.
    ///
    /// - Parameter stored: The issue that it changes; `nil` for a new one.
    init(typed request: PageRequest, stored: IssueRecord? = nil) {
        let names = ["productId", "title", "number", "date", "access"]
        self.values = Dictionary(uniqueKeysWithValues: names.map { ($0, request.typed($0) ?? "") })
        self.hasProductID = stored?.publishedAt == nil
    }

    func fields(_ texts: LocalizedTexts) -> [FormField] {
        func line(_ name: String, _ type: String = "text", maximum: Int? = nil, isRequired: Bool = true) -> FormField {
            .publishing(name, type, in: self.values, maximum: maximum, isRequired: isRequired, texts: texts)
        }
        var fields = [
            line("title", maximum: 1000), line("number", maximum: 100, isRequired: false), line("date", "date"),
        ]
        if self.hasProductID { fields.append(line("productId", maximum: 256)) }
        let access = ["free", "retail"].map { (value: $0, label: texts["publishing.access.\($0)"]) }
        fields.append(
            FormField(
                "access",
                texts["publishing.fields.access"],
                .choice(access),
                value: self.values["access"] ?? "free",
                hint: texts["publishing.hints.access"]
            )
        )
        return fields
    }

    /// Returns the body of the request that adds or changes the issue. An empty number removes it.
    func body(isNew: Bool) -> JSONValue {
        let number = self.text("number").map(JSONValue.string)
        return .members([
            "title": .string(self.values["title"] ?? ""), "date": .string(self.values["date"] ?? ""),
            "number": number ?? (isNew ? nil : .null), "access": self.text("access").map(JSONValue.string),
            "productId": self.hasProductID ? .string(self.values["productId"] ?? "") : nil,
        ])
    }

    private func text(_ name: String) -> String? { self.values[name].flatMap { $0.isEmpty ? nil : $0 } }
}
