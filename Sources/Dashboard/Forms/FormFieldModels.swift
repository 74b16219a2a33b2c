import WebPages

/// The fields of a form as the template `field` shows them: label, hint, value, and what the API says about it.
///
/// The label of the field `title` is the text `AREA.title`, its hint `AREA.titleHint`, the label of an option `AREA.titleOptions.VALUE`.
struct FormFieldModels {
    let texts: PageTexts
    /// The object of the texts.
    let area: String
    let values: [String: String]
    /// The messages by the name of the field.
    let problems: [String: String]

    /// Returns a field of one line.
    ///
    /// - Parameters:
    ///   - type: The type of the input, such as `number`.
    ///   - name: The name of the field in the form, where it is not that of its texts.
    ///   - list: The id of a list of suggestions.
    func line(_ text: String, name: String? = nil, type: String = "text", list: String? = nil, maximum: Int = 4096)
        -> PageModel
    {
        var model = self.field(text, name: name ?? text)
        model["isLine"] = true
        model["type"] = type
        model["list"] = list
        model["maximum"] = "\(maximum)"
        return model
    }

    func area(_ text: String, name: String? = nil, isCode: Bool = false) -> PageModel {
        var model = self.field(text, name: name ?? text)
        model["isArea"] = true
        model["isCode"] = isCode
        return model
    }

    /// Returns a list of which one value is chosen. An option without a text is shown as it is.
    func select(_ text: String, _ options: [String], name: String? = nil) -> PageModel {
        var model = self.field(text, name: name ?? text)
        model["isSelect"] = true
        model["options"] = self.options(text, name: name ?? text, options)
        return model
    }

    /// Returns a group of buttons of which one is chosen.
    func radio(_ text: String, _ options: [String]) -> PageModel {
        var model = self.field(text, name: text)
        model["isRadio"] = true
        model["options"] = self.options(text, name: text, options)
        return model
    }

    /// Returns a box that is ticked or not. Its value is `yes`.
    func check(_ text: String) -> PageModel {
        var model = self.field(text, name: text)
        model["isCheck"] = true
        model["isOn"] = self.values[text] == "yes"
        return model
    }

    /// Returns boxes of which any may be ticked. The values are in one text, with spaces.
    func checks(_ text: String, _ options: [String]) -> PageModel {
        let chosen = Set((self.values[text] ?? "").split(separator: " ").map(String.init))
        var model = self.field(text, name: text)
        model["isChecks"] = true
        model["options"] = options.map { option in
            [
                "value": option, "label": self.label(text, option), "isChosen": chosen.contains(option), "name": text,
            ] as PageModel
        }
        return model
    }

    private func options(_ text: String, name: String, _ options: [String]) -> [PageModel] {
        let value = self.values[name] ?? ""
        let all = options.contains(value) || value.isEmpty ? options : options + [value]
        return all.map { option in
            [
                "value": option, "label": self.label(text, option), "isChosen": option == value, "name": name,
            ] as PageModel
        }
    }

    private func label(_ text: String, _ option: String) -> String {
        self.texts.text("\(self.area).\(text)Options.\(option.isEmpty ? "none" : option)") ?? option
    }

    private func field(_ text: String, name: String) -> PageModel {
        var model: PageModel = [
            "name": name, "id": "field-\(name)", "label": self.texts["\(self.area).\(text)"],
            "value": self.values[name] ?? "",
            "hasProblem": self.problems[name] != nil, "problem": self.problems[name] ?? "",
        ]
        model["hint"] = self.texts.text("\(self.area).\(text)Hint")
        return model
    }
}
