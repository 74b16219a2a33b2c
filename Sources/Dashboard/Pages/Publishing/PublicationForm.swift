import Foundation
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The form of a publication, with its fields and the API request that they describe.
struct PublicationForm {
    /// The names of the form's fields, by the paths of API members in errors, where the two differ.
    static let names = [
        "waves.size": "waveSize", "waves.intervalSeconds": "waveInterval",
        "waves.steering.maximumBandwidth": "maximumBandwidth", "waves.steering.maximumDownloads": "maximumDownloads",
    ]
    /// The number of bytes in the unit of the bandwidth field.
    private static let megabyte = 1_000_000.0

    private let values: [String: String]

    init() { self.values = [:] }

    init(_ response: PublicationResponse) {
        let (publication, waves) = (response.publication, response.publication.waves)
        var values = ["name": publication.name, "waveSize": "\(waves.size)", "waveInterval": "\(waves.interval)"]
        values["account"] = publication.account
        values["maximumDownloads"] = waves.maximumDownloads.map { "\($0)" }
        values["maximumBandwidth"] = waves.maximumBandwidth.map(Self.megabytes)
        values["subscriptionProducts"] = response.subscriptions.joined(separator: "\n")
        self.values = values
    }

    init(typed request: PageRequest) {
        let names = ["name", "account", "waveSize", "waveInterval", "maximumDownloads", "maximumBandwidth"]
        var values = Dictionary(uniqueKeysWithValues: names.map { ($0, request.typed($0) ?? "") })
        values["subscriptionProducts"] = request.form["subscriptionProducts"] ?? ""
        self.values = values
    }

    func fields(_ texts: LocalizedTexts) -> [FormField] {
        let make = MemberFields(texts: texts, area: "publishing", list: PublicationRequest.addition)
        let paths = Dictionary(Self.names.map { ($0.value, $0.key) }) { $1 }
        func field(_ name: String, _ control: FormField.Control = .line(type: "text")) -> FormField {
            make.field(
                name,
                at: paths[name],
                control,
                label: "fields.\(name)",
                value: self.values[name] ?? "",
                hint: "hints.\(name)"
            )
        }
        let number = FormField.Control.line(type: "number")
        return [
            field("name"), field("account"), field("waveSize", number), field("waveInterval", number),
            field("maximumDownloads", number), field("maximumBandwidth"), field("subscriptionProducts", .area),
        ]
    }

    /// Returns the body of the request that adds or changes the publication. An empty field removes the stored value.
    /// - Throws: ``RequestError`` that names a field whose value is not a number.
    func body(_ texts: LocalizedTexts) throws(RequestError) -> JSONValue {
        let products = (self.values["subscriptionProducts"] ?? "").split { $0.isWhitespace }
        let steering: [String: JSONValue] = [
            "maximumDownloads": try self.number("maximumDownloads", texts) ?? .null,
            "maximumBandwidth": try self.bandwidth(texts) ?? .null,
        ]
        let waves: [String: JSONValue?] = [
            "size": try self.number("waveSize", texts), "intervalSeconds": try self.number("waveInterval", texts),
            "steering": .object(steering),
        ]
        return .members([
            "name": .string(self.values["name"] ?? ""),
            "account": self.text("account").map(JSONValue.string) ?? .null,
            "waves": .members(waves), "subscriptionProducts": .array(products.map { .string(String($0)) }),
        ])
    }

    private func text(_ name: String) -> String? { self.values[name].flatMap { $0.isEmpty ? nil : $0 } }

    private func number(_ name: String, _ texts: LocalizedTexts) throws(RequestError) -> JSONValue? {
        guard let text = self.text(name) else { return nil }
        guard let number = Int64(text) else { throw Self.notANumber(name, texts) }
        return .integer(number)
    }

    private static func notANumber(_ name: String, _ texts: LocalizedTexts) -> RequestError {
        PageError.notANumber.error(texts["publishing.noNumber"], field: name)
    }

    private func bandwidth(_ texts: LocalizedTexts) throws(RequestError) -> JSONValue? {
        guard let text = self.text("maximumBandwidth") else { return nil }
        guard let number = Double(text.replacingOccurrences(of: ",", with: ".")),
            let bytes = Int64(exactly: (number * Self.megabyte).rounded())
        else { throw Self.notANumber("maximumBandwidth", texts) }
        return .integer(bytes)
    }

    private static func megabytes(_ bytes: Int) -> String {
        bytes % 1_000_000 == 0 ? "\(bytes / 1_000_000)" : "\(Double(bytes) / Self.megabyte)"
    }
}
