import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTypes
import WebPages

/// The page of an app's credentials, with their expiration and the forms that test and replace them.
struct CredentialPages: PageArea {
    /// The results that the page shows in the section of one environment, which are those of a test, or the error of a
    /// change.
    private struct Extra {
        var environment: String
        var test: CredentialTestResponse?
        var error: RequestError?
    }

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/credentials", { try await self.page($0) }),
            .post("/apps/{app}/credentials/{environment}", self.set),
            .post("/apps/{app}/credentials/{environment}/test", self.test),
            .post("/apps/{app}/credentials/{environment}/remove", self.remove),
            .post("/apps/{app}/credentials/{environment}/resume", self.resume),
        ]
    }
    var menuEntry: MenuEntry? { MenuEntry(.app, "credentials") }

    private func page(_ request: PageRequest, _ extra: Extra? = nil) async throws -> Response {
        let app = try await request.get(request.api, as: AppResponse.self)
        let credentials = try await request.list("\(request.api)/credentials", of: CredentialResponse.self).entries
        let sections = PushEnvironment.allCases.map { environment -> PageModel in
            let name = environment.rawValue
            let credential = credentials.first { $0.environment == environment }
            let state = app.states.first { $0.environment == environment }
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
        _ credential: CredentialResponse?,
        _ state: EnvironmentResponse?,
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
        if let state, state.state != "running" {
            var trouble = PageValue.members(state)
            trouble["stateLabel"] = StateLabel.model(state.state, request.texts)
            trouble["isPaused"] = state.state == "paused"
            for name in ["advice", "message", "nextTry"] where trouble[name] == nil { trouble[name] = false }
            model["trouble"] = trouble
        }
        if let test = extra?.test { model["test"] = Self.test(test, request.texts) }
        return model
    }

    private func credential(_ credential: CredentialResponse, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(credential)
        for name in ["teamId", "keyId", "subject", "fault", "expiresAt"] where model[name] == nil {
            model[name] = false
        }
        model["kindName"] = request.texts["credentials.kinds.\(credential.kind)"]
        let topics = credential.topics ?? []
        model["topicText"] = topics.isEmpty ? false : topics.joined(separator: ", ")
        if let end = credential.expires {
            let left = ExpiryText.daysLeft(until: end.milliseconds, now: request.interface.time.now)
            model["left"] =
                [
                    "kind": left < 3 ? "bad" : left <= CertificateExpiryStage.first ? "warn" : "good",
                    "text": ExpiryText.text(days: left, request.texts),
                ] as PageModel
        } else {
            model["left"] = false
        }
        return model
    }

    private func fields(_ request: PageRequest, isTyped: Bool) -> [FormField] {
        let texts = request.texts
        let make = MemberFields(texts: texts, area: "credentials", list: CredentialRequest.object)
        func typed(_ name: String) -> String { isTyped ? request.form[name] ?? "" : "" }
        return [
            FormField(
                "file",
                texts["credentials.file"],
                .file(accept: ".p8,.p12,.pem,.cer,.crt"),
                hint: texts["credentials.fileHint"],
                isRequired: true
            ),
            make.field("passphrase", .line(type: "password")),
            make.field("teamId", value: typed("teamId"), hint: "keyHint"),
            make.field("keyId", value: typed("keyId")),
        ]
    }

    /// Returns the template variables for the steps of a test. A step that did not run is shown as waiting.
    private static func test(_ response: CredentialTestResponse, _ texts: LocalizedTexts) -> PageModel {
        let test = response.test
        var model = PageValue.members(response)
        for name in ["message", "advice", "roundTripMs", "reason"] where model[name] == nil { model[name] = false }
        let steps = [
            ("reached", test.isReached), ("trusted", test.isTrusted), ("credentialAccepted", test.isCredentialAccepted),
            ("topicAllowed", test.isTopicAllowed),
        ]
        model["steps"] = steps.map { step, isDone -> PageModel in
            ["kind": isDone.map { $0 ? "good" : "bad" } ?? "wait", "text": texts["credentials.steps.\(step)"]]
        }
        model["kind"] = test.isProven ? "good" : "bad"
        model["verdict"] = texts[test.isProven ? "credentials.works" : "credentials.worksNot"]
        return model
    }

    // MARK: Changes

    /// Stores the uploaded credential for all further pushes, or only tests it.
    private func set(_ request: PageRequest) async throws -> Response {
        try await self.change(request) { path in
            let body = try CredentialUpload.body(request.form, request.texts)
            if request.form["do"] == "test" {
                return try await request.call(.post("\(path):test", body), as: CredentialTestResponse.self)
            }
            _ = try await request.call(.put(path, body))
            return nil
        }
    }

    private func test(_ request: PageRequest) async throws -> Response {
        try await self.change(request) { path in
            try await request.call(.post("\(path):test"), as: CredentialTestResponse.self)
        }
    }

    private func remove(_ request: PageRequest) async throws -> Response {
        try request.require(.operate)
        let environment = request.parameter("environment")
        do {
            let path = "\(request.api)/credentials/\(URLText.encoded(environment))"
            let answer = try await request.call(.delete(path))
            return request.redirect(to: "\(request.appPath)/credentials", done: "removed", after: answer)
        } catch let error as RequestError {
            return try await self.page(request, Extra(environment: environment, error: error))
        }
    }

    private func resume(_ request: PageRequest) async throws -> Response {
        let environment = URLText.encoded(request.parameter("environment"))
        return try await self.change(request, done: "probed") { _ in
            _ = try await request.call(.post("\(request.api)/environments/\(environment):resume"))
            return nil
        }
    }

    /// Performs a change to the environment that the path names.
    /// - Parameter change: A closure that receives the path of the credential in the API, and performs the change. If
    ///   it returns the result of a test, the page shows the result. For `nil`, the response is a redirect to the page.
    private func change(
        _ request: PageRequest,
        done: String = "credentialSet",
        _ change: (String) async throws -> CredentialTestResponse?
    ) async throws -> Response {
        try request.require(.operate)
        let environment = request.parameter("environment")
        do {
            let path = "\(request.api)/credentials/\(URLText.encoded(environment))"
            guard let test = try await change(path) else {
                return request.redirect(to: "\(request.appPath)/credentials", done: done)
            }
            return try await self.page(request, Extra(environment: environment, test: test))
        } catch let error as RequestError {
            return try await self.page(request, Extra(environment: environment, error: error))
        }
    }
}

/// Describes the remaining lifetime of a certificate.
enum ExpiryText {
    /// Returns the number of whole days until a time in milliseconds since 1970. It is negative after that time.
    static func daysLeft(until end: Int64, now: Timestamp) -> Int64 {
        let (day, left) = (Int64(86_400_000), end.subtractingReportingOverflow(now.milliseconds))
        guard !left.overflow else { return end > 0 ? .max : .min }
        return left.partialValue >= 0 ? left.partialValue / day : -(-left.partialValue / day) - 1
    }

    static func text(days: Int64, _ texts: LocalizedTexts) -> String {
        switch days {
        case ..<0: texts["trouble.expired"]
        case 0: texts["trouble.today"]
        case 1: texts["trouble.tomorrow"]
        default: texts["trouble.days", ["days": "\(days)"]]
        }
    }
}
