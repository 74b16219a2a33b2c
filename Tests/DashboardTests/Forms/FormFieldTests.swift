import PageResources
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import Testing
import WebPages

@testable import Dashboard

/// Fields that are made from the members of requests.
@Suite struct FormFieldTests {
    private static func line(_ field: FormField) throws -> PageModel {
        try #require(field.model(form: "form", problem: nil)["line"] as? PageModel)
    }

    @Test func aFieldHasTheBoundsOfItsMember() throws {
        let url = FormField("url", of: WebhookRequest.addition, "URL", .line(type: "url"))
        #expect(url.isRequired)
        #expect(try Self.line(url)["maximum"] as? String == "2048")
        let again = FormField("url", of: WebhookRequest.change, "URL", .line(type: "url"))
        #expect(!again.isRequired)

        let window = FormField("capWindow", of: AppRequest.change, at: "cap.window", "Window")
        #expect(try Self.line(window)["maximum"] as? String == "12")
    }

    /// HTML has no maximum length of numbers and times.
    @Test func aNumberHasItsLeastAndItsMost() throws {
        let rate = try Self.line(FormField("rate", of: APIKeyRequest.change, "Rate", .line(type: "number")))
        #expect(rate["least"] as? String == "1" && rate["most"] as? String == "100000")
        #expect(rate["maximum"] as? Bool == false)
        let block = try Self.line(
            FormField("block", of: WebhookRequest.replay, "Block", .line(type: "number"))
        )
        #expect(block["least"] as? String == "1" && block["most"] as? Bool == false)
        let from = try Self.line(
            FormField("from", of: ReactivationRequest.object, "From", .line(type: "datetime-local"))
        )
        #expect(from["maximum"] as? Bool == false && from["least"] as? Bool == false)
    }

    @Test func postedValuesAreCheckedByTheirMember() throws {
        let form = try FormData(urlEncoded: "rate=100001&name=\(String(repeating: "x", count: 201))".utf8)
        #expect(throws: RequestError.self) { try form.number("rate", of: APIKeyRequest.change["rate"]) }
        #expect(throws: RequestError.self) { try form.text("name", of: AppRequest.change["name"]) }
        let good = try FormData(urlEncoded: "rate=100000&name=x".utf8)
        #expect(try good.number("rate", of: APIKeyRequest.change["rate"]) == 100_000)
        #expect(try good.text("name", of: AppRequest.change["name"]) == "x")
    }

    /// The choices of members, and where the localized texts have their labels.
    private static let choices = [
        (WebhookRequest.addition["events"], "webhooks.kinds"), (AppRequest.change["receipts"], "apps.receiptLevels"),
        (APIKeyRequest.addition["scopes"], "keys.scope"), (PersonRequest.addition["role"], "people.roles"),
        (IssueRequest.addition["access"], "publishing.access"),
        (EntitlementServerRequest.object["form"], "entitlement.forms"),
        (EntitlementServerRequest.object["whenDown"], "entitlement.whenDownOptions"),
        (NotificationRequest.object["priority"], "compose.priorityOptions"),
    ]

    @Test func everyChoiceHasALabelInEveryLanguage() throws {
        let languages = try PageLanguages(PageFiles(page_resources_of_dashboard()).texts)
        for (member, path) in Self.choices {
            #expect(!member.choices.isEmpty, "\(path)")
            for language in languages.all {
                let texts = languages.texts(language, acceptLanguage: nil)
                let missing = member.choices.filter { texts.text("\(path).\($0)") == nil }
                #expect(missing == [], "\(language) \(path)")
            }
        }
    }
}
