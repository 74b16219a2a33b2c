import Hummingbird
import ProviderAPI
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes
import WebPages

/// The credentials of an app: what is set, how long it lasts, whether it works, and its replacement.
struct CredentialsPages: PageArea {
    /// The parts of a page besides the credentials, in the section of their environment.
    private struct Extra {
        var environment: String
        var test: JSONValue?
        var error: RequestError?
    }

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/credentials", self.show),
            .post("/apps/{app}/credentials/{environment}", self.set),
            .post("/apps/{app}/credentials/{environment}/test", self.test),
            .post("/apps/{app}/credentials/{environment}/remove", self.remove),
            .post("/apps/{app}/credentials/{environment}/resume", self.resume),
        ]
    }

    private func show(_ request: PageRequest) async throws -> Response { try await self.page(request, nil) }

    private func page(_ request: PageRequest, _ extra: Extra?) async throws -> Response {
        let app = try await request.getOfApp("")
        let credentials = try await request.getOfApp("/credentials")["credentials"].elements
        let sections = PushEnvironment.allCases.map { environment -> PageModel in
            let name = environment.rawValue
            let credential = credentials.first { $0["environment"].stringValue == name }
            let state = app["environmentStates"].elements.first { $0["environment"].stringValue == name }
            return self.section(name, credential, state, extra?.environment == name ? extra : nil, request)
        }
        let model: PageModel = [
            "sections": sections, "may": request.permissions,
            "path": "\(Dashboard.root)\(request.appPath)/credentials", "bundleId": request.app,
        ]
        return request.page("credentials", title: "credentials.title", model, error: extra?.error)
    }

    private func section(
        _ environment: String,
        _ credential: JSONValue?,
        _ state: JSONValue?,
        _ extra: Extra?,
        _ request: PageRequest
    ) -> PageModel {
        var model: PageModel = [
            "environment": environment, "credential": false, "trouble": false, "test": false,
            "isOpen": extra?.error != nil || credential == nil,
            "fields": FormModel.fields(
                environment,
                self.fields(request, isTyped: extra?.error != nil),
                error: extra?.error,
                names: CredentialUpload.names
            ),
            "button": request.texts[credential == nil ? "credentials.set" : "credentials.replace"],
        ]
        if let credential { model["credential"] = self.credential(credential, request) }
        if let state, let word = state["state"].stringValue, word != "running" {
            var trouble = PageValue.members(state)
            trouble["stateLabel"] = StateLabel.model(word, request.texts)
            trouble["isPaused"] = word == "paused"
            for name in ["advice", "message", "nextTry"] where trouble[name] == nil { trouble[name] = false }
            model["trouble"] = trouble
        }
        if let test = extra?.test { model["test"] = Self.test(test, request.texts) }
        return model
    }

    private func credential(_ credential: JSONValue, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(credential)
        for name in ["teamId", "keyId", "subject", "fault", "expiresAt"] where model[name] == nil {
            model[name] = false
        }
        model["kindName"] = request.texts["credentials.kinds.\(credential["kind"].stringValue ?? "")"]
        let topics = credential["topics"].elements.compactMap(\.stringValue)
        model["topicText"] = topics.isEmpty ? false : topics.joined(separator: ", ")
        if let end = credential["expiresAtMs"].integerValue {
            let left = ExpiryText.daysLeft(until: end, now: request.interface.time.now)
            model["left"] =
                [
                    "kind": left < 3 ? "bad" : left <= CertificateStage.first ? "warn" : "good",
                    "text": ExpiryText.text(days: left, request.texts),
                ] as PageModel
        } else {
            model["left"] = false
        }
        return model
    }

    private func fields(_ request: PageRequest, isTyped: Bool) -> [FormField] {
        let texts = request.texts
        func typed(_ name: String) -> String { isTyped ? request.form[name] ?? "" : "" }
        return [
            FormField(
                "file",
                texts["credentials.file"],
                .file(accept: ".p8,.p12,.pem,.cer,.crt"),
                hint: texts["credentials.fileHint"],
                isRequired: true
            ),
            FormField(
                "passphrase",
                texts["credentials.passphrase"],
                .line(type: "password"),
                hint: texts["credentials.passphraseHint"],
                maximum: 1024,
                completion: "off"
            ),
            FormField(
                "teamId",
                texts["credentials.teamId"],
                value: typed("teamId"),
                hint: texts["credentials.keyHint"],
                maximum: 10
            ),
            FormField(
                "keyId",
                texts["credentials.keyId"],
                value: typed("keyId"),
                hint: texts["credentials.keyIdHint"],
                maximum: 10
            ),
        ]
    }

    /// Returns the result of a test, step by step. A step that was not made has no state.
    private static func test(_ test: JSONValue, _ texts: PageTexts) -> PageModel {
        var model = PageValue.members(test)
        for name in ["message", "advice", "roundTripMs", "reason"] where model[name] == nil { model[name] = false }
        model["steps"] = ["reached", "trusted", "credentialAccepted", "topicAllowed"].map { step -> PageModel in
            let kind = test[step].isTrue ? "good" : test[step] == .bool(false) ? "bad" : "wait"
            return ["kind": kind, "text": texts["credentials.steps.\(step)"]]
        }
        model["kind"] = test["works"].isTrue ? "good" : "bad"
        model["verdict"] = texts[test["works"].isTrue ? "credentials.works" : "credentials.worksNot"]
        return model
    }

    // MARK: Changes

    /// Stores the uploaded credential, or tests it alone. The next push uses the new one.
    private func set(_ request: PageRequest) async throws -> Response {
        try await self.change(request) { path in
            let body = try CredentialUpload.body(request.form, request.texts)
            if request.form["do"] == "test" { return try await request.call(.post("\(path):test", body)) }
            _ = try await request.call(.put(path, body))
            return nil
        }
    }

    private func test(_ request: PageRequest) async throws -> Response {
        try await self.change(request) { try await request.call(.post("\($0):test")) }
    }

    private func remove(_ request: PageRequest) async throws -> Response {
        try request.require(.operate)
        let environment = request.parameter("environment")
        do {
            let path = "\(request.api)/credentials/\(FormText.encoded(environment))"
            let answer = try await request.call(.delete(path))
            return request.redirect(to: "\(request.appPath)/credentials", done: "removed", after: answer)
        } catch let error as RequestError {
            return try await self.page(request, Extra(environment: environment, error: error))
        }
    }

    private func resume(_ request: PageRequest) async throws -> Response {
        let environment = FormText.encoded(request.parameter("environment"))
        return try await self.change(request, done: "probed") { _ in
            _ = try await request.call(.post("\(request.api)/environments/\(environment):resume"))
            return nil
        }
    }

    /// Carries out a change of the environment that the path names.
    ///
    /// - Parameter change: Returns the result of a test, which the page shows; `nil` to go on.
    private func change(
        _ request: PageRequest,
        done: String = "credentialSet",
        _ change: (String) async throws -> JSONValue?
    ) async throws -> Response {
        try request.require(.operate)
        let environment = request.parameter("environment")
        do {
            let path = "\(request.api)/credentials/\(FormText.encoded(environment))"
            guard let test = try await change(path) else {
                return request.redirect(to: "\(request.appPath)/credentials", done: done)
            }
            return try await self.page(request, Extra(environment: environment, test: test))
        } catch let error as RequestError {
            return try await self.page(request, Extra(environment: environment, error: error))
        }
    }
}
