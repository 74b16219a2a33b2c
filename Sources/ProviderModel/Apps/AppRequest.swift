package import PushSupport
package import PushTypes

/// The requests that add, change and stop an app.
package enum AppRequest {
    package static let bundleID = Member.text("bundleId", maximum: Topic.maximumLength, as: .bundleID)
        .parsed("invalid_bundle_id", "use letters, digits, dots, hyphens or underscores") { Topic($0) }
    fileprivate static let name = Member.text("name", 1...200).clearable
    fileprivate static let rate = Member.integer("rate", 1...PaceSettings.maximumRate).clearable
        .described("Pushes per second of all campaigns together; null for no limit.")
    fileprivate static let receipts = Member.receiptPrivacy("receipts").clearable
        .described("The receipt level that apps may report at most. Default none.")
    package static let addition = RequestObject(
        required: [Self.bundleID],
        optional: [Self.name, Self.rate, Self.receipts]
    ) { $0.example(.texts(["bundleId": "com.example.MyApp"])) }

    fileprivate static let tags = NamePatterns.member("installationTags")
    fileprivate static let attributes = NamePatterns.member("installationAttributes")
    package static let change = RequestObject(
        optional: [Self.name, Self.rate, Self.receipts, Self.tags, Self.attributes, FrequencyCap.member]
    )

    package static let reason = Member.text("reason", 1...300).described("Shown wherever the stop is.")
    package static let stop = RequestObject(optional: [Self.reason])
}

extension AppChanges {
    /// Reads the members of a request that adds or changes an app.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws(RequestError) {
        self.init(
            name: try fields.value(AppRequest.name),
            rate: try fields.value(AppRequest.rate).map { $0.map { Int($0) } },
            receipts: try fields.value(AppRequest.receipts).map { $0.value ?? ReceiptLevel.none }
        )
        self.installationTags = try fields.value(AppRequest.tags)
        self.installationAttributes = try fields.value(AppRequest.attributes)
        self.cap = try fields.value(FrequencyCap.member)
    }
}

extension FrequencyCap {
    private static let countMember = Member.integer("count", 1...FrequencyCap.maximumCount)
    private static let windowMember = Member.text("window", maximum: 12, as: DurationText.schema)
        .described("Such as 24h; at most 30d.")
        .parsed("invalid_value", "use a time such as 90m, 24h or 7d, of 30d at most") { text -> Int64? in
            DurationText.seconds(text).flatMap { (1...FrequencyCap.maximumWindow).contains($0) ? $0 : nil }
        }

    package static let object = RequestObject(required: [Self.countMember, Self.windowMember]) { $0.named("Cap") }

    package var json: JSONValue {
        .object(["count": .integer(Int64(self.count)), "window": .string(DurationText.text(self.window))])
    }

    fileprivate static let member = Member.object("cap", Self.object) { (cap) throws(RequestError) -> FrequencyCap in
        let count = try cap.required(Self.countMember, "the most notifications in the window")
        return FrequencyCap(count: Int(count), window: try cap.required(Self.windowMember))
    }.clearable
}

extension NamePatterns {
    /// Creates a request member that holds an array of patterns. `null` stands for an empty array.
    fileprivate static func member(_ name: String) -> RequestMember<NamePatterns> {
        let texts = Member.texts(name, 0...Self.maximum, maximum: Member.maximumText)
            .parsedEach("invalid_value", "a * may only be at the end, such as news.*") { Self.isPattern($0) ? $0 : nil }
        let schema = texts.schema.orNull
            .described("Names that installations may write; one that ends in * stands for all that begin so.")
        return RequestMember<NamePatterns>(name, schema) { (fields, name) throws(RequestError) in
            if fields.nulls.contains(name) { return NamePatterns() }
            return try fields.value(texts).map { NamePatterns($0) }
        }
    }
}
