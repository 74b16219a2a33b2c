import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes
import WebPages

/// The apps to which a person or an API key is limited, as pages and forms show them. Without the API member `apps`,
/// there is no limit. An empty list, which remains after the last app of the list was erased, allows no app.
enum AppLimit {
    /// Returns a localized description of the limit: all apps for `nil`, none for an empty list, and otherwise the
    /// bundle ids.
    static func text(_ apps: [Topic]?, _ texts: LocalizedTexts) -> String {
        guard let apps else { return texts["keys.allApps"] }
        return apps.isEmpty ? texts["keys.noApps"] : apps.map(\.name).joined(separator: ", ")
    }

    /// Returns the limit as an API member. It is `null` for `nil`, which allows all apps.
    static func member(_ apps: [Topic]?) -> JSONValue { apps?.json ?? .null }

    /// Returns the fields that choose all apps or some. They show the posted values if `isTyped` is `true`, and
    /// otherwise the stored limit `set`, in which `nil` allows all apps.
    static func fields(_ request: PageRequest, set: [Topic]?, isTyped: Bool) async throws -> [FormField] {
        let texts = request.texts
        let apps = try await request.list("/v1/apps", of: AppResponse.self).entries.map(\.app.bundleID.name)
        let isLimited = isTyped ? request.form["reach"] != "all" : set != nil
        return [
            FormField(
                "reach",
                texts["people.reach"],
                .choice(["all", "some"].map { ($0, texts["people.reaches.\($0)"]) }),
                value: isLimited ? "some" : "all"
            ),
            FormField(
                "apps",
                texts["people.apps"],
                .checks(apps.map { ($0, $0) }),
                values: isTyped ? request.form.values("apps") : (set ?? []).map(\.name),
                hint: texts["people.appsHint"]
            ),
        ]
    }

    /// Returns the limit that a form chooses, as an API member. It is `null` for all apps, which must be chosen
    /// explicitly, and an empty array if no app is chosen.
    /// - Throws: ``RequestError`` for a form that chooses both all apps and some of them.
    static func chosen(_ form: FormData, _ texts: LocalizedTexts) throws(RequestError) -> JSONValue {
        let apps = form.values("apps").sorted()
        guard form["reach"] == "all" else { return .array(apps.map(JSONValue.string)) }
        guard apps.isEmpty else {
            throw PageError.allAppsAndSome.error(texts["people.appsConflict"], field: "apps")
        }
        return .null
    }
}
