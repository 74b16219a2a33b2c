import ProviderAPI
import PushHTTP
import PushSupport
import PushTypes
import WebPages

/// The apps that a person or an API key is limited to, in pages and in forms.
///
/// Without the member `apps` of the API there is no limit. An empty list allows no app; it remains when the last of the
/// apps is erased.
enum AppLimit {
    /// Returns the limit in words.
    static func text(_ apps: [Topic]?, _ texts: LocalizedTexts) -> String {
        guard let apps else { return texts["keys.allApps"] }
        return apps.isEmpty ? texts["keys.noApps"] : apps.map(\.name).joined(separator: ", ")
    }

    /// Returns the limit as a member of a request; `null` for all apps.
    static func member(_ apps: [Topic]?) -> JSONValue { apps?.json ?? .null }

    /// Returns the fields that choose all apps or some. They show the posted values if there are any, else the stored
    /// limit.
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

    /// Returns the limit that a form chooses; `null` for all apps, which have to be chosen explicitly.
    ///
    /// - Throws: ``RequestError`` for a form that chooses all apps and some of them.
    static func chosen(_ form: FormData, _ texts: LocalizedTexts) throws(RequestError) -> JSONValue {
        let apps = form.values("apps").sorted()
        guard form["reach"] == "all" else { return .array(apps.map(JSONValue.string)) }
        guard apps.isEmpty else {
            throw PageError.allAppsAndSome.error(texts["people.appsConflict"], field: "apps")
        }
        return .null
    }
}
