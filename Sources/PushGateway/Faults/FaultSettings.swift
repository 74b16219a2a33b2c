import Foundation
import PushSupport

extension GatewayConfiguration {
    /// The faults of flags and file.
    /// - Throws: ``GatewayError`` that names the one at fault.
    func faultRules() throws -> [FaultRule] {
        var rules: [FaultRule] = []
        for text in self.faults {
            do {
                rules.append(try FaultRule(text: text))
            } catch {
                throw GatewayError.badFault(text, why: Self.text(of: error))
            }
        }
        guard let file = self.faultsFile else { return rules }
        do {
            return rules + (try FaultPlan.rules(json: try Data(contentsOf: URL(filePath: file))))
        } catch let refusal as RequestError {
            throw GatewayError.badFile(path: file, why: Self.text(of: refusal))
        } catch {
            throw GatewayError.badFile(path: file, why: ErrorDescription.of(error))
        }
    }

    private static func text(of refusal: RequestError) -> String {
        [refusal.path, refusal.message].compactMap { $0 }.joined(separator: ": ")
    }
}
