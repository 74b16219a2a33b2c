extension LockScreen {
    /// The number of colours that icons without an image may have.
    private static let colours: UInt64 = 12

    /// Returns the values of the template `lock-screen`.
    ///
    /// - Parameter topic: The topic of the push, whose last part stands for the app.
    package func model(topic: String, texts: LocalizedTexts) -> PageModel {
        let name = topic.split(separator: ".").last.map(String.init) ?? topic
        var model: PageModel = [
            "app": name, "letter": name.prefix(1).uppercased(),
            "colour": "icon-\(topic.utf8.reduce(5381 as UInt64) { $0 &* 33 &+ UInt64($1) } % Self.colours)",
        ]
        model["badge"] = self.badge.map { PageNumber(value: Double($0)) }
        switch self.kind {
        case .alert:
            model["alert"] = self.alert(texts)
            model["stacked"] = self.thread
        case .activity(let event, let values):
            model["activity"] =
                [
                    "event": event,
                    "values": values.map { ["name": $0.name, "value": $0.value] },
                    "alert": self.title == nil && self.body == nil ? [] : [self.alert(texts)],
                ] as PageModel
        case .silent(let reason): model["silent"] = texts["preview.\(reason.rawValue)"]
        }
        return model
    }

    private func alert(_ texts: LocalizedTexts) -> PageModel {
        var alert: PageModel = ["sound": self.hasSound, "attachment": self.hasAttachment]
        for (name, text) in [("title", self.title), ("subtitle", self.subtitle), ("body", self.body)] {
            if let text { alert[name] = ["text": text.text, "isKey": text.isKey] as PageModel }
        }
        alert["level"] = texts.text("preview.level.\(self.level)")
        alert["isQuiet"] = self.level == "passive"
        alert["category"] = self.category
        alert["summary"] = self.summary
        return alert
    }
}
