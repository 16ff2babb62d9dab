package roma.hbase.files;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.apache.hadoop.hbase.regionserver.MetricsRegionServerSourceFactory;

/**
 * Counters that count nothing, for what HBase tells of the files it writes.
 *
 * Its own ones need a class of Hadoop's that is open to its package alone. Of a job's jars and Spark's own, each loaded by a loader of its
 * own, Java does not hold the packages of the same name for the same.
 */
public final class NoCounters implements InvocationHandler {
    private static final String KEPT_IN = "org.apache.hadoop.hbase.CompatibilitySingletonFactory$SingletonStorage";

    private NoCounters() {}

    /** To be called before HBase writes the first file of this JVM. */
    public static void take() throws Exception {
        Class kept = Class.forName(KEPT_IN, true, MetricsRegionServerSourceFactory.class.getClassLoader());
        Map instances = (Map) field(kept, "instances");
        synchronized (field(kept, "lock")) {
            if (!instances.containsKey(MetricsRegionServerSourceFactory.class)) {
                instances.put(MetricsRegionServerSourceFactory.class, of(MetricsRegionServerSourceFactory.class));
            }
        }
    }

    public Object invoke(Object counter, Method method, Object[] arguments) {
        Class wanted = method.getReturnType();
        if (wanted.isInterface()) {
            return of(wanted);
        }
        if (wanted == Boolean.TYPE) {
            return Boolean.FALSE;
        }
        if (wanted == Long.TYPE) {
            return Long.valueOf(0);
        }
        return wanted == Integer.TYPE ? Integer.valueOf(0) : null;
    }

    private static Object field(Class of, String name) throws Exception {
        Field field = of.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of.getEnumConstants()[0]);
    }

    private static Object of(Class counter) {
        return Proxy.newProxyInstance(counter.getClassLoader(), new Class[] {counter}, new NoCounters());
    }
}
