import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import WebPages

/// The page for the publisher's server, which decides who is entitled to retail issues. It has forms that change, test
/// and remove the server.
struct EntitlementPages: PageArea {
    /// The result of a posted form, which the page shows in addition to the settings.
    private struct Extra {
        var test: PublisherExchange?
        /// The name of the form that was rejected, which is `set` or `test`, or `nil` if none was.
        var form: String?
        var error: RequestError?
    }

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/publishing/entitlement", { try await self.page($0, Extra()) }),
            .post("/apps/{app}/publishing/entitlement", self.set),
            .post("/apps/{app}/publishing/entitlement/test", self.test),
            .post("/apps/{app}/publishing/entitlement/remove", self.remove),
        ]
    }

    private static func path(_ request: PageRequest) -> String { "\(request.publishingPath)/entitlement" }

    /// Returns the publisher's server of the app, or `nil` if none is configured.
    private func server(_ request: PageRequest) async throws -> EntitlementServerResponse? {
        do {
            return try await request.get("\(request.api)/entitlement", as: EntitlementServerResponse.self)
        } catch let error as RequestError where error.code == "no_entitlement_server" {
            return nil
        }
    }

    private func page(_ request: PageRequest, _ extra: Extra) async throws -> Response {
        try request.require(.operate)
        let server = try await self.server(request)
        let path = "\(request.api)/entitlement:grounds"
        let grounds = try await request.get(path, as: EntitlementChecker.Grounds.self)
        var model: PageModel = [
            "path": "\(Dashboard.root)\(Self.path(request))", "bundleId": request.app, "server": false, "test": false,
            "publishing": "\(Dashboard.root)\(request.publishingPath)",
            "isOpen": server == nil || extra.form == "set", "isTestOpen": extra.form == "test" || extra.test != nil,
            "setFields": FormModel.fields(
                "set",
                self.setFields(request, server, isTyped: extra.form == "set"),
                error: extra.form == "set" ? extra.error : nil
            ),
            "testFields": FormModel.fields(
                "test",
                self.testFields(request, isTyped: extra.form == "test" || extra.test != nil),
                error: extra.form == "test" ? extra.error : nil,
                names: ["productIds[0]": "productIds"]
            ),
            "grounds": [
                self.ground("root", grounds.hasAppStoreRoot, request),
                self.ground("server", grounds.hasServer, request),
            ], "isSandboxAllowed": grounds.allowsSandboxPurchases,
            "button": request.texts[server == nil ? "entitlement.set" : "entitlement.change"],
        ]
        if let server {
            var values = PageValue.members(server)
            values["formText"] = request.texts["entitlement.forms.\(server.form.rawValue)"]
            values["whenDownText"] = request.texts["entitlement.whenDownOptions.\(server.whenDown.rawValue)"]
            model["server"] = values
        }
        if let test = extra.test { model["test"] = self.exchange(test, request) }
        return request.page("entitlement", title: "entitlement.title", model, error: extra.error)
    }

    private func ground(_ name: String, _ isThere: Bool, _ request: PageRequest) -> PageModel {
        [
            "kind": isThere ? "good" : "wait",
            "text": request.texts["entitlement.\(name)\(isThere ? "There" : "Missing")"],
        ]
    }

    private func exchange(_ test: PublisherExchange, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(test)
        let isAnswered = test.isAnswered
        model["kind"] = isAnswered ? "good" : "bad"
        model["verdict"] = request.texts[isAnswered ? "entitlement.answered" : "entitlement.notAnswered"]
        let products = test.products ?? []
        model["entitledText"] =
            products.isEmpty ? request.texts["entitlement.nothing"] : products.joined(separator: ", ")
        model["isAnswered"] = isAnswered
        for name in ["error", "request", "status", "response"] where model[name] == nil { model[name] = false }
        return model
    }

    // MARK: Fields

    private func setFields(_ request: PageRequest, _ server: EntitlementServerResponse?, isTyped: Bool) -> [FormField] {
        let make = MemberFields(texts: request.texts, area: "entitlement", list: EntitlementServerRequest.object)
        func value(_ name: String, _ stored: String?, _ standard: String) -> String {
            isTyped ? request.form[name] ?? "" : stored ?? standard
        }
        func choice(_ name: String, _ labels: String, _ stored: String?, _ standard: String) -> FormField {
            make.field(name, .choice(make.options(name, labels)), value: value(name, stored, standard))
        }
        return [
            make.field("url", .line(type: "url"), value: value("url", server?.url, "")),
            choice("form", "forms", server?.form.rawValue, "json"),
            choice("whenDown", "whenDownOptions", server?.whenDown.rawValue, "allowKnown"),
            make.field("secret", .line(type: "password"), hint: server == nil ? nil : "secretStays"),
        ]
    }

    private func testFields(_ request: PageRequest, isTyped: Bool) -> [FormField] {
        let make = MemberFields(texts: request.texts, area: "entitlement", list: EntitlementTestRequest.object)
        func typed(_ name: String) -> String { isTyped ? request.form[name] ?? "" : "" }
        return [
            make.field("account", value: typed("account")),
            make.field("authToken", .line(type: "password")),
            make.field("productIds", .area, value: typed("productIds")),
        ]
    }

    // MARK: Changes

    /// Configures the server. If the provider has generated the secret, the response shows it, but no later page does.
    private func set(_ request: PageRequest) async throws -> Response {
        try request.require(.operate)
        do {
            let body = JSONValue.members([
                "url": .string(request.typed("url") ?? ""), "form": request.typed("form").map(JSONValue.string),
                "whenDown": request.typed("whenDown").map(JSONValue.string),
                "secret": request.typed("secret").map(JSONValue.string),
            ])
            let call = LocalAPIRequest.put("\(request.api)/entitlement", body)
            guard let secret = try await request.call(call, as: EntitlementServerResponse.self).secret else {
                return request.redirect(to: Self.path(request), done: "saved")
            }
            return SecretPage.page(
                request,
                title: "entitlement.added",
                explanation: "entitlement.secretText",
                secret: secret,
                next: "\(Dashboard.root)\(Self.path(request))"
            )
        } catch let error as RequestError {
            return try await self.page(request, Extra(form: "set", error: error))
        }
    }

    private func test(_ request: PageRequest) async throws -> Response {
        try request.require(.operate)
        do {
            let products = (request.form["productIds"] ?? "").split { $0.isWhitespace || $0 == "," }
            let body = JSONValue.members([
                "productIds": .array(products.map { .string(String($0)) }),
                "account": request.typed("account").map(JSONValue.string),
                "authToken": request.typed("authToken").map(JSONValue.string),
            ])
            let call = LocalAPIRequest.post("\(request.api)/entitlement:test", body)
            let test = try await request.call(call, as: PublisherExchange.self)
            return try await self.page(request, Extra(test: test))
        } catch let error as RequestError {
            return try await self.page(request, Extra(form: "test", error: error))
        }
    }

    private func remove(_ request: PageRequest) async throws -> Response {
        try request.require(.operate)
        do {
            _ = try await request.call(.delete("\(request.api)/entitlement"))
            return request.redirect(to: Self.path(request), done: "removed")
        } catch let error as RequestError {
            return try await self.page(request, Extra(error: error))
        }
    }
}
