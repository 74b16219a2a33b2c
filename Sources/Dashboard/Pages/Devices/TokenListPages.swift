import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page of token events, with forms that apply or discard withheld deactivations and undo earlier ones.
struct TokenListPages: PageArea {
    private static let actions = [
        "deactivated", "withheld", "settled", "reactivated", "replaced", "moved", "suspected", "keptAlive", "deleted",
    ]

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/tokens", { try await self.page($0) }),
            .post("/apps/{app}/tokens/reactivate", self.reactivate),
            .post("/apps/{app}/tokens/{environment}/{decision}", self.settle),
        ]
    }
    var menuEntry: MenuEntry? { MenuEntry(.app, "tokens") }

    /// Returns the page of token events. `figure` is the number of devices that a dry run of a reactivation has
    /// counted, or `nil` before a dry run.
    private func page(_ request: PageRequest, figure: Int? = nil, error: RequestError? = nil) async throws -> Response {
        let action = request.query("action").flatMap { Self.actions.contains($0) ? $0 : nil }
        let query = URLText.query([
            "action": action, "token": request.query("token"), "cursor": request.query("cursor"), "limit": "50",
        ])
        let path = "\(request.appPath)/tokens"
        var model: PageModel = [
            "may": request.permissions, "path": "\(Dashboard.root)\(path)", "token": request.query("token") ?? "",
            "breakers": try await self.breakers(request),
            "actions": ([""] + Self.actions).map { value -> PageModel in
                let label = value.isEmpty ? request.texts["tokens.anyAction"] : request.texts["states.\(value)"]
                return ["value": value, "label": label, "chosen": value == action ?? ""]
            },
            "fields": FormModel.fields("reactivate", self.fields(request), error: error),
            "isOpen": figure != nil || error != nil,
        ]
        if let figure {
            model["figure"] =
                [
                    "count": PageNumber(value: Double(figure)), "many": figure > 0,
                    "hidden": ["from", "to", "reason", "environment"].map { name -> PageModel in
                        ["name": name, "value": request.form[name] ?? ""]
                    },
                ] as PageModel
        }
        do {
            let events = try await request.list("\(request.api)/tokens/events\(query)", of: TokenEventResponse.self)
            model["tokenEvents"] = events.entries.map { HistoryModel.event($0, request) }
            model["pager"] = request.pager(
                events.next,
                path: path,
                ["action": action, "token": request.query("token")]
            )
        } catch let error as RequestError where error.kind == .invalid {
            model["tokenEvents"] = [PageModel]()
            model["tokenProblem"] = error.message
        }
        return request.page("tokens", title: "tokens.title", model, error: error)
    }

    /// Returns the state of the circuit breaker in each environment, with the number of tokens whose deactivation waits
    /// for a decision.
    private func breakers(_ request: PageRequest) async throws -> [PageModel] {
        try await request.list("\(request.api)/hygiene", of: BreakerResponse.self).entries.map { state in
            var model = PageValue.members(state)
            model["stateLabel"] = StateLabel.model(state.breaker, request.texts)
            model["isOpen"] = state.breaker == "open"
            model["count"] = model["withheld"] ?? false
            if model["reason"] == nil { model["reason"] = false }
            return model
        }
    }

    private func fields(_ request: PageRequest) -> [FormField] {
        let (form, texts) = (request.form, request.texts)
        let make = MemberFields(texts: texts, area: "tokens", list: ReactivationRequest.object)
        let environments = [("", texts["tokens.both"]), ("production", "production"), ("sandbox", "sandbox")]
        let time = FormField.Control.line(type: "datetime-local")
        return [
            make.field("from", time, value: TimeField.value(form["from"])),
            make.field("to", time, value: TimeField.value(form["to"])),
            make.field("reason", value: form["reason"] ?? ""),
            make.field("environment", .choice(environments), value: form["environment"] ?? ""),
        ]
    }

    private func settle(_ request: PageRequest) async throws -> Response {
        try request.require(.operate)
        let decision = request.parameter("decision")
        guard ["apply", "discard"].contains(decision) else {
            throw PageError.noSuchPage.error(request.texts["failure.nothing"], kind: .notFound)
        }
        let environment = URLText.encoded(request.parameter("environment"))
        do {
            _ = try await request.call(.post("\(request.api)/hygiene/\(environment):\(decision)"))
            return request.redirect(to: "\(request.appPath)/tokens", done: "\(decision)Done")
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }

    /// First counts, in a dry run, the devices that would be reactivated, and reactivates them when the form with this
    /// count is posted.
    private func reactivate(_ request: PageRequest) async throws -> Response {
        try request.require(.operate)
        let isDry = request.form["step"] != "do"
        do {
            let list = ReactivationRequest.object
            let body = JSONValue.members([
                "from": TimeField.json(request.form["from"]), "to": TimeField.json(request.form["to"]),
                "reason": try request.form.text("reason", of: list["reason"]).map(JSONValue.string),
                "environment": try request.form.text("environment", maximum: 20).map(JSONValue.string),
                "dryRun": isDry ? JSONValue.bool(true) : nil,
            ])
            let call = LocalAPIRequest.post("\(request.api)/devices:reactivate", body)
            let result = try await request.call(call, as: ReactivationResponse.self)
            if isDry { return try await self.page(request, figure: result.devices) }
            let done = result.isComplete ? "reactivated" : "reactivatedSome"
            return request.redirect(to: "\(request.appPath)/tokens?action=reactivated", done: done)
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }
}
